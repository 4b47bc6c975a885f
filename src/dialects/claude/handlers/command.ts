import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { memoize, memoizePerObject } from '../../../base/memoize.ts';
import type { Answer, Handler, HandlerInput } from '../../../hooks/handler.ts';
import { isInside } from '../../../base/paths.ts';
import type { Environment } from '../../../process/environment.ts';
import { hasStdinPath } from '../../../process/interpreter.ts';
import { type ProgramResult, runProgram } from '../../../process/run.ts';
import { createFailingHandler, describeEnd, reportExchange } from '../../command-handler.ts';
import type { Grant } from '../../discovery.ts';
import { explainUnboundDirectory } from '../binding.ts';
import type { ClaudeCodec } from '../codec.ts';
import type { CommandEntry } from '../entry.ts';
import { parseAsyncLine } from '../output/late-answer.ts';
import type { ClaudeSession } from '../session.ts';
import { planCommand } from './command-line.ts';
import { createEnvFile, hasEnvFile } from '../../../process/env-files.ts';
import { protectPythonImports } from '../../../process/search-path.ts';
import { buildBaseEnvironment, buildEventEnvironment, buildPlaceVariables } from './environment.ts';

/** Creates the handler of a command; `index` is its place among the hooks of its event, from 0. */
export function createClaudeCommandHandler(
  entry: CommandEntry,
  target: Omit<Handler, 'run' | 'background'>,
  grant: Grant,
  index: number,
  codec: ClaudeCodec,
): Handler {
  const { session } = codec;
  const runWith = grant.sandbox?.run ?? runProgram;
  const command = planCommand(entry, session);
  if ('problem' in command) return createFailingHandler(target, command.problem);
  const getEnvironment = memoize(() => protectImports(entry, session, grant.environment));
  const opensStdin = memoize(() => hasStdinPathInCommand(entry, session));
  const isBackground = entry.async || (entry.asyncRewake && !session.awaitsRewake);

  const findEnvFile = ({ event: { sessionId } }: HandlerInput): string | null =>
    createEnvFile(entry.event, index, { sessionId, stateDirectory: session.stateDirectory });

  const encode = hasEnvFile(entry.event)
    ? memoizePerObject((input: HandlerInput) =>
        encodeWithFile(entry, input, findEnvFile(input), codec),
      )
    : (input: HandlerInput) => codec.encodeShared(entry.event, input);

  function read(input: HandlerInput, result: ProgramResult, isLate: boolean): Answer {
    const ended = describeEnd(result, grant.timeoutMs);
    if (ended.failure !== undefined) return ended;
    if (result.late !== null) {
      return { ...ended, late: result.late.then((end) => read(input, end, true)) };
    }
    if (isLate) return { ...ended, ...codec.decodeLate(entry, input, result) };
    return { ...ended, ...codec.decode(entry, input, result) };
  }

  return {
    ...target,
    ...(isBackground ? { background: true } : {}),
    ...(grant.sandbox === undefined ? {} : { sandbox: grant.sandbox.profile }),
    prepare: (input) => void encode(input),
    async run(input, signal, report) {
      const message = explainUnboundDirectory(input.event.cwd, entry, session);
      if (message !== null) return { failure: { kind: 'spawn', message } };
      const program = {
        ...command,
        cwd: findWorkingDirectory(input.event.cwd, session),
        env: {
          ...getEnvironment(),
          ...buildEventEnvironment(input.event, findEnvFile(input), grant),
        },
        timeoutMs: grant.timeoutMs,
        opensStdin: opensStdin(),
      };
      const stdin = (): Buffer => encode(input);
      const result = await runWith({ ...program, stdin }, { signal, handOver });
      if (report !== undefined) reportExchange(program, stdin(), result, report);
      return read(input, result, isBackground);
    },
  };
}

function encodeWithFile(
  { event }: CommandEntry,
  input: HandlerInput,
  file: string | null,
  codec: ClaudeCodec,
): Buffer {
  if (file === null) return codec.encodeShared(event, input);
  return Buffer.from(codec.encode(event, input, { CLAUDE_ENV_FILE: file }));
}

/** Moves a hook to the background whose first line of stdout says so. */
function handOver(firstLine: string): boolean | { readonly timeoutMs: number } {
  const wish = parseAsyncLine(firstLine);
  if (wish === null || wish.timeoutMs === null) return wish !== null;
  return { timeoutMs: wish.timeoutMs };
}

/** Searches the command and the scripts that it runs. */
function hasStdinPathInCommand(entry: CommandEntry, session: ClaudeSession): boolean {
  return listTexts(entry, session).some(({ text }) => hasStdinPath(text));
}

/** A hook of the user runs in a workspace, whose modules it must not import. */
function protectImports(
  entry: CommandEntry,
  session: ClaudeSession,
  base: Readonly<Environment>,
): Environment {
  const environment = buildBaseEnvironment(entry, session, base);
  if (entry.source.place === 'workspace') return environment;
  const texts = listTexts(entry, session);
  const directories = texts.flatMap(({ file }) => (file === null ? [] : path.dirname(file)));
  return protectPythonImports(
    environment,
    texts.map(({ text }) => text).join('\n'),
    directories.filter((each) => !session.untrusted.some((outer) => isInside(outer, each))),
  );
}

/** The command line, and the scripts that it names. */
function listTexts(
  entry: CommandEntry,
  session: ClaudeSession,
): readonly { readonly file: string | null; readonly text: string }[] {
  const text = [entry.command, ...(entry.args ?? [])].join(' ');
  const scripts = findScripts(text, entry, session).flatMap((file) => {
    const script = readScript(file);
    return script === null ? [] : [{ file, text: script }];
  });
  return [{ file: null, text }, ...scripts];
}

const LARGEST_SCRIPT = 1024 * 1024;

/** The text of a file, which may be missing or binary. */
function readScript(file: string): string | null {
  try {
    const stats = statSync(file);
    if (!stats.isFile() || stats.size > LARGEST_SCRIPT) return null;
    return readFileSync(file, 'latin1');
  } catch {
    return null;
  }
}

function findScripts(text: string, entry: CommandEntry, session: ClaudeSession): readonly string[] {
  const variables: Environment = {
    ...buildPlaceVariables(entry, session),
    HOME: session.home ?? '',
  };
  const words = text.replaceAll(/["']/g, '').split(/[\s`;|&()<>]+/);
  const paths = words
    .filter((word) => word.includes('/') || SCRIPT_ENDING.test(word))
    .map((word) => word.replace(/^~(?=\/)/, '$HOME'))
    .map((word) =>
      word.replaceAll(/\$\{?(\w+)\}?/g, (all, name: string) => variables[name] ?? all),
    );
  return [...new Set(paths)].map((word) => path.resolve(session.startDirectory, word));
}

const SCRIPT_ENDING = /\.(?:sh|bash|zsh|py|[cm]?[jt]s|rb|pl|php)$/;

/** Falls back to the start directory when the current directory no longer exists. */
function findWorkingDirectory(cwd: string, { startDirectory, home }: ClaudeSession): string {
  if (existsSync(cwd)) return cwd;
  return existsSync(startDirectory) ? startDirectory : (home ?? '/');
}
