import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { CLAUDE_HOOK_LANGUAGES } from '../../src/dialects/claude/templates/plan.ts';
import { HOOK_LANGUAGES } from '../../src/dialects/cline-files/templates/plan.ts';
import type { ScriptLanguage } from '../../src/dialects/templates.ts';
import { typescriptLoader } from '../../src/host/dialect-machine.ts';
import { createProgramFinder } from '../../src/process/program-finder.ts';
import { createDirectory, write } from '../base/directory.ts';

const find = createProgramFinder(process.env['PATH'], process.platform);

const CLAUDE_PAYLOADS = {
  PreToolUse: { tool_name: 'Bash', tool_input: { command: 'rm -rf /' }, cwd: '/ws' },
  PermissionRequest: { tool_name: 'Read', tool_input: { file_path: '/ws/a' }, cwd: '/ws' },
  UserPromptSubmit: { prompt: 'hello' },
} as const;

const CLINE_PAYLOADS = {
  PreToolUse: { preToolUse: { toolName: 'execute_command', parameters: { command: 'ls' } } },
  UserPromptSubmit: { userPromptSubmit: { prompt: 'hello' } },
} as const;

interface Run {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script with its interpreter, on a PATH that has only these programs. */
function runScript(
  file: string,
  language: ScriptLanguage,
  payload: unknown,
  programs: readonly string[],
): Run {
  const bin = createDirectory();
  mkdirSync(path.join(bin, 'bin'));
  for (const name of programs) symlinkSync(find(name) ?? '', path.join(bin, 'bin', name));
  const [program = '', ...args] = INTERPRETERS[language];
  const { status, stdout, stderr } = spawnSync(program, [...args, file], {
    input: typeof payload === 'string' ? payload : JSON.stringify(payload),
    encoding: 'utf8',
    env: { PATH: path.join(bin, 'bin'), HOME: bin },
  });
  return { status, stdout, stderr };
}

const INTERPRETERS: Readonly<Record<ScriptLanguage, readonly string[]>> = {
  bash: [find('bash') ?? 'bash'],
  python: [findPython()],
  node: [process.execPath],
  ts: [process.execPath, typescriptLoader],
};

/** The interpreter itself, because what is on the PATH may be a script that needs more programs. */
function findPython(): string {
  const found = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], {
    encoding: 'utf8',
  });
  return found.status === 0 ? found.stdout.trim() : '';
}

function canRun(language: ScriptLanguage): boolean {
  const [program = ''] = INTERPRETERS[language];
  return existsSync(program) && (language !== 'ts' || existsSync(typescriptLoader));
}

/** Breaks a script as its author would: a module that it loads does not exist. */
const BREAKS: Readonly<Record<Exclude<ScriptLanguage, 'bash'>, (text: string) => string>> = {
  python: (text) => text.replace('\nimport json\n', '\nimport json\nimport no_such_module\n'),
  node: breakJavascript,
  ts: breakJavascript,
};

function breakJavascript(text: string): string {
  const load = "await import('no-such-module');\n";
  return text
    .replace(/^const \{ text \} = await import/mu, `${load}$&`)
    .replace(/^\(async \(\) => \{\n/mu, `$&  ${load}`);
}

const LANGUAGES = ['python', 'node', 'ts'] as const;
const EXTENSIONS = { bash: '', python: '.py', node: '', ts: '.ts' } as const;

describe('a guard in Claude’s format denies with exit code 2 and a reason', () => {
  for (const [event, payload] of Object.entries(CLAUDE_PAYLOADS)) {
    const name = event as keyof typeof CLAUDE_PAYLOADS;
    const writeHook = (language: ScriptLanguage, change = (text: string) => text): string => {
      const { write: render, extension } = CLAUDE_HOOK_LANGUAGES[language];
      return write(path.join(createDirectory(), `hook${extension}`), change(render(name)));
    };

    test.skipIf(!canRun('bash'))(`${event} in bash without jq`, () => {
      const run = runScript(writeHook('bash'), 'bash', payload, ['cat']);
      const stderr = `${event}: jq is not installed, so this guard denies\n`;
      expect(run).toEqual({ status: 2, stdout: '', stderr });
    });

    test.skipIf(!canRun('bash'))(`${event} in bash without any program`, () => {
      const run = runScript(writeHook('bash'), 'bash', payload, ['jq']);
      expect(run).toEqual({
        status: 2,
        stdout: '',
        stderr: expect.stringContaining(
          `${event}: the payload cannot be read, so this guard denies`,
        ),
      });
    });

    test.skipIf(!canRun('bash'))(`${event} in bash with a payload that is no JSON`, () => {
      const run = runScript(writeHook('bash'), 'bash', '{"broken', ['jq', 'cat']);
      expect(run).toMatchObject({ status: 2, stdout: '' });
      expect(run.stderr).toContain(`${event}: the payload cannot be parsed, so this guard denies`);
    });

    test.skipIf(!canRun('bash'))(`${event} in bash with no payload`, () => {
      const run = runScript(writeHook('bash'), 'bash', '', ['jq', 'cat']);
      expect(run.stderr).toBe(`${event}: there is no payload, so this guard denies\n`);
      expect(run.status).toBe(2);
    });

    for (const language of LANGUAGES) {
      test.skipIf(!canRun(language))(`${event} in ${language} with a missing import`, () => {
        const run = runScript(writeHook(language, BREAKS[language]), language, payload, []);
        expect(run).toMatchObject({ status: 2, stdout: '' });
        expect(run.stderr).toMatch(
          new RegExp(`^${event}: this guard failed, so it denies: .*no.such.module`, 'u'),
        );
      });

      test.skipIf(!canRun(language))(`${event} in ${language} with a broken payload`, () => {
        const run = runScript(writeHook(language), language, '{"broken', []);
        expect(run).toMatchObject({ status: 2, stdout: '' });
        expect(run.stderr).toContain(`${event}: this guard failed, so it denies: `);
      });

      test.skipIf(!canRun(language))(`but ${event} in ${language} as written does its work`, () => {
        const run = runScript(writeHook(language), language, payload, []);
        expect(run).toMatchObject({ status: 0, stderr: '' });
        expect(run.stdout === '').toBe(event === 'UserPromptSubmit');
      });
    }
  }
});

describe('a guard in a Cline file refuses', () => {
  for (const [event, payload] of Object.entries(CLINE_PAYLOADS)) {
    const name = event as keyof typeof CLINE_PAYLOADS;
    const writeHook = (language: ScriptLanguage, change = (text: string) => text): string => {
      const file = path.join(createDirectory(), `${event}${EXTENSIONS[language]}`);
      return write(file, change(HOOK_LANGUAGES[language].write(name)));
    };
    const readRefusal = ({ status, stdout }: Run): unknown => {
      return { status, answer: JSON.parse(stdout) };
    };

    test.skipIf(!canRun('bash')).each([
      ['without jq', ['cat'], payload, 'jq is not installed'],
      ['without any other program', ['jq'], payload, 'the payload cannot be read'],
      ['with a payload that is no JSON', ['jq', 'cat'], '{"broken', 'the payload cannot be parsed'],
      ['with no payload', ['jq', 'cat'], '', 'there is no payload'],
    ])(`${event} in bash %s`, (_how, programs, input, why) => {
      const run = runScript(writeHook('bash'), 'bash', input, programs);
      const errorMessage = `${event}: ${why}, so this guard refuses.`;
      expect(readRefusal(run)).toEqual({ status: 0, answer: { cancel: true, errorMessage } });
    });

    for (const language of LANGUAGES) {
      const refusal = {
        status: 0,
        answer: {
          cancel: true,
          errorMessage: expect.stringMatching(new RegExp(`^${event}: this guard failed`, 'u')),
        },
      };

      test.skipIf(!canRun(language))(`${event} in ${language} with a missing import`, () => {
        const run = runScript(writeHook(language, BREAKS[language]), language, payload, []);
        expect(readRefusal(run)).toEqual(refusal);
        expect(`${run.stdout}${run.stderr}`).toMatch(/no.such.module/u);
      });

      test.skipIf(!canRun(language))(`${event} in ${language} with a broken payload`, () => {
        const run = runScript(writeHook(language), language, '{"broken', []);
        expect(readRefusal(run)).toEqual(refusal);
      });

      test.skipIf(!canRun(language))(`but ${event} in ${language} as written lets it go on`, () => {
        const run = runScript(writeHook(language), language, payload, []);
        expect(readRefusal(run)).toEqual({ status: 0, answer: { cancel: false } });
        expect(run.stderr).toBe('');
      });
    }
  }
});

describe('the guard in the README', () => {
  const readme = readFileSync('README.md', 'utf8');
  const script = /```bash\n(#!\/bin\/bash\n[\s\S]*?)```/u.exec(readme)?.[1] ?? '';
  const runSample = (file: string, programs: readonly string[]): Run =>
    runScript(
      write(path.join(createDirectory(), 'protect.sh'), script),
      'bash',
      { tool_input: { file_path: file } },
      programs,
    );

  test.skipIf(!canRun('bash'))('denies everything without jq', () => {
    expect(script).toContain('jq');
    expect(runSample('/ws/a.ts', [])).toMatchObject({ status: 2, stdout: '' });
    expect(runSample('/ws/a.ts', []).stderr).toContain('is jq installed?');
  });

  test.skipIf(!canRun('bash'))('denies what it guards, and nothing else', () => {
    expect(runSample('/ws/.env', ['jq'])).toEqual({
      status: 2,
      stdout: '',
      stderr: 'that file holds secrets\n',
    });
    expect(runSample('/ws/a.ts', ['jq'])).toEqual({ status: 0, stdout: '', stderr: '' });
  });
});
