import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHookline } from './hookline.ts';
import { at, createTempWorkspace, write } from './temp-workspace.ts';

// Public plugins print in colours, several lines at once, and log with `ctx.logger`, which Cline always gives.

const TALKING = `
export default {
  name: 'talking',
  manifest: { capabilities: ['hooks'] },
  setup(api, ctx) {
    console.log('\\n\\x1b[36m[talking]\\x1b[0m is set up\\n| a table |\\n| of two lines |');
    console.log();
    ctx.logger.log('logged', { count: 2 });
    ctx.logger.error('went wrong', { error: new Error('the cause') });
    ctx.logger.debug('a detail');
  },
  hooks: { afterRun() {} },
};
`;

const PRINTED = ['[talking] is set up', '| a table |', '| of two lines |'];
const WRONG = 'went wrong { error: Error: the cause }';
const LOGGED = ['logged { count: 2 }', WRONG, 'a detail'];

function createWorkspaceWith(text: string) {
  const workspace = createTempWorkspace();
  write(workspace.home, '.cline/plugins/talking.ts', text);
  return workspace;
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('note: '));
}

/** What a run prints on stderr. */
async function readStderrLines(
  isolation: string,
  ...flags: readonly string[]
): Promise<readonly string[]> {
  const workspace = createWorkspaceWith(TALKING);
  const script = path.join(workspace.directory, 'turns.json');
  writeFileSync(script, JSON.stringify([{ text: 'done' }]));
  const { stderr } = await runHookline([...flags, 'run', '--script', script, 'go'], {
    ...at(workspace),
    env: { HOOKLINE_PLUGIN_ISOLATION: isolation },
  });
  return linesOf(stderr);
}

describe('what a plugin prints and logs', () => {
  it.each(['none', 'process'])(
    'is printed line by line, without its colours, in a run; isolation: %s',
    async (isolation) => {
      // A process prints on a pipe, and logs on another.
      expect((await readStderrLines(isolation)).toSorted()).toEqual(
        [...PRINTED, `plugin talking: ${WRONG}`].toSorted(),
      );
    },
  );

  it.each(['none', 'process'])(
    'is printed with all that it logs on demand; isolation: %s',
    async (isolation) => {
      const lines = await readStderrLines(isolation, '--debug');
      expect(lines).toEqual(
        expect.arrayContaining([...PRINTED, ...LOGGED.map((line) => `plugin talking: ${line}`)]),
      );
    },
  );

  it('is printed with its name where plugins are listed', async () => {
    const { code, stderr } = await runHookline(
      ['plugin', 'list'],
      at(createWorkspaceWith(TALKING)),
    );
    expect({ code, lines: linesOf(stderr) }).toEqual({
      code: 0,
      lines: [
        'talking says: [talking] is set up',
        '    | a table |',
        '    | of two lines |',
        `talking says: ${WRONG}`,
      ],
    });
  });
});

describe('a hook of a plugin that fails', () => {
  it('is reported once', async () => {
    const workspace = createWorkspaceWith(`export default {
  name: 'talking',
  manifest: { capabilities: ['hooks'] },
  hooks: { beforeRun() { throw new Error('no key is set'); } },
};`);
    const script = path.join(workspace.directory, 'turns.json');
    writeFileSync(script, JSON.stringify([{ text: 'done' }]));
    const { stderr } = await runHookline(['run', '--script', script, 'go'], at(workspace));
    expect(stderr.split('\n').filter((line) => line.includes('no key is set'))).toEqual([
      'note: plugin talking: beforeRun failed: no key is set (beforeRun returns nothing, or { stop: true, reason: "why" } to refuse the run)',
    ]);
  });
});
