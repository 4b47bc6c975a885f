import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Handler, HandlerInput } from '../../../hooks/handler.ts';
import type { Environment } from '../../../process/environment.ts';
import { type Codec, createCommandHandler, createFailingHandler } from '../../command-handler.ts';
import type { Grant } from '../../discovery.ts';
import { hasStdinPathInFile, hasStdinPath } from '../../stdin-path.ts';
import type { CommandEntry } from '../entry.ts';
import type { ClaudeSession } from '../session.ts';
import { planCommand } from './command-line.ts';
import { createEnvFile, hasEnvFile } from '../../../process/env-files.ts';
import { buildBaseEnvironment, buildEventEnvironment, buildPlaceVariables } from './environment.ts';

/** What a command handler needs besides its entry. */
export interface CommandParts {
  readonly target: Omit<Handler, 'run' | 'background'>;
  readonly grant: Grant;
  readonly session: ClaudeSession;
  /** Its index among the hooks of its event, from 0. */
  readonly index: number;
  readonly io: CommandIo;
}

/** Encodes payloads and decodes answers of command hooks. */
export interface CommandIo {
  /** Encodes the payload of a hook without CLAUDE_ENV_FILE; the same function for all hooks of an event. */
  readonly encode: Codec['encode'];
  encodeWith(input: HandlerInput, envFile: string): string;
  readonly decode: Codec['decode'];
  readonly decodeLate: Codec['decode'];
  /** Whether the first line of stdout moves the hook to the background, and for how long. */
  handOver(firstLine: string): false | { readonly timeoutMs: number | null };
}

export function createClaudeCommandHandler(entry: CommandEntry, parts: CommandParts): Handler {
  const { target, grant, session, index, io } = parts;
  const command = planCommand(entry, session);
  if ('problem' in command) return createFailingHandler(target, command.problem);
  const isBackground = entry.async || (entry.asyncRewake && !session.awaitsRewake);
  const environment = buildBaseEnvironment(entry, session, grant.environment);
  const envFile = (input: HandlerInput): string | null =>
    createEnvFile(entry.event, index, {
      sessionId: input.event.sessionId,
      stateDirectory: session.stateDirectory,
    });
  const encodeWithFile = (input: HandlerInput): string => {
    const file = envFile(input);
    return file === null ? io.encode(input) : io.encodeWith(input, file);
  };
  let isOpening: boolean | null = null;
  const opens = (): boolean => (isOpening ??= hasStdinPathInCommand(entry, session));
  return createCommandHandler({
    ...target,
    ...(isBackground ? { background: true } : {}),
    program: (input) => ({
      ...command,
      cwd: findWorkingDirectory(input.event.cwd, session),
      env: { ...environment, ...buildEventEnvironment(input.event, envFile(input)) },
      timeoutMs: grant.timeoutMs,
      opensStdin: opens(),
    }),
    codec: {
      encode: hasEnvFile(entry.event) ? encodeWithFile : io.encode,
      decode: isBackground ? io.decodeLate : io.decode,
      decodeLate: io.decodeLate,
    },
    handOver: (firstLine) => {
      const wish = io.handOver(firstLine);
      return wish === false || wish.timeoutMs === null
        ? wish !== false
        : { timeoutMs: wish.timeoutMs };
    },
  });
}

/** Searches the command and the scripts that it runs. */
function hasStdinPathInCommand(entry: CommandEntry, session: ClaudeSession): boolean {
  const text = [entry.command, ...(entry.args ?? [])].join(' ');
  return hasStdinPath(text) || findScripts(text, entry, session).some(hasStdinPathInFile);
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
