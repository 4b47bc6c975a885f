import { Readable } from 'node:stream';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { EXIT } from '../../src/cli/exit-codes.ts';
import { escapeTerminalText, type Printer } from '../../src/cli/output/print.ts';
import { isHooklineError } from '../../src/base/errors.ts';
import { environmentOf, type HooklineOptions, type HooklineResult } from './hookline.ts';

/** Runs a command from the sources, in this process; one at a time, since it has one environment. */
export async function runInProcess(
  args: readonly string[],
  { cwd, ...options }: Pick<HooklineOptions, 'cwd' | 'home' | 'env'>,
): Promise<HooklineResult> {
  const before = { cwd: process.cwd(), env: { ...process.env } };
  const printed = { stdout: '', stderr: '' };
  replaceEnvironment(environmentOf(options));
  process.chdir(cwd);
  try {
    const code = await runCommandLine(['node', 'hookline', ...args], {
      print: createCapture(printed),
      env: process.env,
      stdin: Readable.from([]),
      signal: new AbortController().signal,
    });
    return { code, ...printed };
  } catch (error) {
    if (!isHooklineError(error)) throw error;
    const hint = error.hint === undefined ? '' : `  ${error.hint}\n`;
    const stderr = `${printed.stderr}hookline: ${escapeTerminalText(error.message)}\n${hint}`;
    return { code: EXIT.usage, stdout: printed.stdout, stderr };
  } finally {
    process.chdir(before.cwd);
    replaceEnvironment(before.env);
  }
}

function replaceEnvironment(env: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
}

function createCapture(printed: { stdout: string; stderr: string }): Printer {
  return {
    isTerminal: false,
    isStdoutTerminal: false,
    isStdoutClosed: () => false,
    out: (text) => void (printed.stdout += `${escapeTerminalText(text)}\n`),
    json: (value) => void (printed.stdout += `${JSON.stringify(value, null, 2)}\n`),
    jsonLine: (value) => void (printed.stdout += `${JSON.stringify(value)}\n`),
    note: (text) => void (printed.stderr += `${escapeTerminalText(text)}\n`),
    notify: () => undefined,
    progress: () => undefined,
  };
}
