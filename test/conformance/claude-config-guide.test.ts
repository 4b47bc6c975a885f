import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findCases, readCase } from '../../src/testing/case.ts';
import { formatDifference } from '../../src/testing/expectation.ts';
import { runCase } from '../../src/testing/run-case.ts';
import { createDirectory, write as writeFile } from '../base/directory.ts';
import {
  answered,
  bash,
  call,
  command,
  createFixtureOpener,
  expectVerdict,
  hooks,
  records,
  type Setup,
  type Fixture,
} from './claude-config/fixture.ts';
import { missingPrograms } from './claude-config/programs.ts';

const PLACE = path.join(import.meta.dirname, 'claude-config', 'hook-guide');
const CASES = findCases(PLACE).map(readCase);

const hasBash = missingPrograms(['bash']).length === 0;
const hasJq = hasBash && missingPrograms(['jq']).length === 0;

const counts = { passed: 0, skipped: 0 };

describe('scripts and configurations of the published hook guide', () => {
  afterAll(() => {
    const { passed, skipped } = counts;
    process.stdout.write(
      `claude-config guide: ${passed} of ${CASES.length} cases passed, ${skipped} skipped\n`,
    );
  });

  for (const hookCase of CASES) {
    it.concurrent(`${hookCase.name}: ${hookCase.about ?? ''}`, async ({ expect, skip }) => {
      const { skipped, differences } = await runCase(hookCase, { trust: 'all' });
      if (skipped !== null) {
        counts.skipped += 1;
        skip(skipped);
        return;
      }
      expect(differences.map(formatDifference)).toEqual([]);
      counts.passed += 1;
    });
  }
});

/** Opens a workspace with one of the guide's plugins, unmodified, from its own directory. */
async function withPlugin<Result>(
  name: string,
  work: (world: Fixture) => Promise<Result>,
  setup: Setup = {},
): Promise<Result> {
  const undo: (() => Promise<void>)[] = [];
  try {
    const openFixture = createFixtureOpener((each) => undo.unshift(each));
    const pluginDirectories = [path.join(PLACE, 'plugins', name)];
    return await work(await openFixture({ ...setup, host: { pluginDirectories, ...setup.host } }));
  } finally {
    for (const each of undo) await each();
  }
}

const edit = (file: string) =>
  call('Edit', { file_path: file, old_string: 'x', new_string: 'y', replace_all: false });
const write = (file: string) => call('Write', { file_path: file, content: 'x' });

describe.skipIf(!hasJq)('the file protection plugin (skipped without bash and jq)', () => {
  it.each(['.env', '.git/config', 'config/credentials.json', 'keys/private.key'])(
    'blocks changes of %s',
    async (file) => {
      await withPlugin('file-protection', async ({ fire, root }) => {
        const reasons = [
          `[\${CLAUDE_PLUGIN_ROOT}/scripts/protect.sh]: Error: Cannot modify protected file: ${root}/${file}`,
        ];
        expectVerdict(await fire('PreToolUse', edit(file)), { effect: 'deny', reasons });
        expectVerdict(await fire('PreToolUse', write(file)), { effect: 'deny', reasons });
      });
    },
  );

  it('lets other files and other tools pass', async () => {
    await withPlugin('file-protection', async ({ fire }) => {
      expectVerdict(await fire('PreToolUse', write('src/a.ts')), {});
      const { outcomes, skipped } = await fire('PreToolUse', bash('cat .env'));
      expect(outcomes).toEqual([]);
      expect(skipped.map(({ kind }) => kind)).toEqual(['misfit']);
    });
  });

  it('sees changes under Cline’s names of the tools', async () => {
    await withPlugin('file-protection', async ({ fire }) => {
      const diff = '------- SEARCH\nx\n=======\ny\n+++++++ REPLACE';
      const calls = [
        call('replace_in_file', { path: '.env', diff }),
        call('write_to_file', { path: '.env', content: 'x' }),
        call('editor', { command: 'create', path: '.env', file_text: 'x' }),
      ];
      for (const each of calls) {
        expect((await fire('PreToolUse', each)).effect).toBe('deny');
      }
    });
  });
});

describe.skipIf(!hasJq)('the auto-formatter plugin (skipped without bash and jq)', () => {
  const PRETTIER = '#!/bin/sh\necho "$*" >> "$CLAUDE_PROJECT_DIR/prettier.log"\nexit 1\n';
  it('formats what was edited or written, also when the formatter fails', async () => {
    const bin = createDirectory();
    writeFile(path.join(bin, 'prettier'), PRETTIER, 0o755);
    await withPlugin(
      'auto-formatter',
      async ({ fire, lines, root }) => {
        const done = { result: { response: undefined, text: 'done', success: true } };
        expectVerdict(await fire('PostToolUse', { ...edit('src/a.ts'), ...done }), {});
        expectVerdict(await fire('PostToolUse', { ...write('b.css'), ...done }), {});
        expectVerdict(await fire('PostToolUse', { ...write('c.rs'), ...done }), {});
        await fire('PostToolUse', { ...bash('ls'), ...answered('a') });
        expect(lines('prettier.log')).toEqual([
          `--write ${root}/src/a.ts`,
          `--write ${root}/b.css`,
        ]);
      },
      { env: { PATH: `${bin}:${process.env['PATH']}` } },
    );
  });
});

describe.skipIf(!hasBash)('the first configuration (skipped without bash)', () => {
  it('runs as a plugin: a time-out in milliseconds, and an echo that the model does not see', async () => {
    await withPlugin('first-configuration', async ({ fire, lines, host }) => {
      expectVerdict(await fire('PreToolUse', edit('a.ts')), {});
      expect(lines('formatted.log')).toEqual(['formatted']);
      const { outcomes, context } = await fire('PostToolUse', { ...bash('ls'), ...answered('a') });
      expect(outcomes.map(({ stdout }) => stdout)).toEqual(['Tool used\n']);
      expect(context).toEqual([]);
      const [format] = host.hooks();
      expect(format?.timeoutMs).toBe(10_000);
      expect(format?.hook.notes).toEqual([expect.stringContaining('read as milliseconds')]);
    });
  });
});

describe.skipIf(!hasBash)('the session setup (skipped without bash)', () => {
  const sessionId = 'guide';

  it('adds context, makes its directory, and leaves variables for later commands', async () => {
    await withPlugin(
      'session-setup',
      async ({ fire, root, host }) => {
        expectVerdict(await fire('SessionStart'), { context: ['Plugin initialized'] });
        expect(existsSync(path.join(root, '.plugin-data'))).toBe(true);
        const file = path.join(
          host.stateDirectory ?? '',
          'session-env',
          sessionId,
          'sessionstart-hook-0.sh',
        );
        expect(readFileSync(file, 'utf8').split('\n')[0]).toBe('MY_VAR=value');
        const script = 'set -a; . "$0"; printenv MY_VAR; plugin-tool';
        const output = execFileSync('bash', ['-c', script, file], { encoding: 'utf8' });
        expect(output).toBe('value\nplugin-tool\n');
      },
      { host: { moment: { sessionId } } },
    );
  });

  it('finds the file for variables on stdin as well', async () => {
    await withPlugin(
      'session-setup',
      async ({ fire, recorded }) => {
        await fire('SessionStart');
        const [told] = recorded('told.log');
        expect(told?.payload['CLAUDE_ENV_FILE']).toMatch(/sessionstart-hook-0\.sh$/u);
        expect(told?.texts).toEqual([told?.payload['CLAUDE_ENV_FILE']]);
      },
      { project: hooks('SessionStart', [command(records('told.log', '$CLAUDE_ENV_FILE'))]) },
    );
  });
});

describe('the prompt hook', () => {
  it.each(['Stop', 'SubagentStop'] as const)(
    'judges at %s whether the work is complete',
    async (event) => {
      const prompt = 'Evaluate if the response is complete';
      await withPlugin(
        'file-protection',
        async ({ fire }) => {
          expectVerdict(await fire(event), {
            effect: 'deny',
            reasons: [`[${prompt}]: the tests are missing`],
          });
        },
        {
          project: hooks(event, [{ type: 'prompt', prompt }]),
          host: {
            ports: {
              askModel: () => Promise.resolve('{"ok":false,"reason":"the tests are missing"}'),
            },
          },
        },
      );
    },
  );
});
