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

/** What a command hook is made of besides its entry. */
export interface CommandParts {
  readonly target: Omit<Handler, 'run' | 'background'>;
  readonly grant: Grant;
  readonly session: ClaudeSession;
  /** Which of its event's hooks it is, from 0. */
  readonly index: number;
  readonly io: CommandIo;
}

/** The dialect's own reading and writing. */
export interface CommandIo {
  /** The payload of a hook that has no file for variables; the same function for all of an event. */
  readonly encode: Codec['encode'];
  encodeWith(input: HandlerInput, envFile: string): string;
  readonly decode: Codec['decode'];
  readonly decodeLate: Codec['decode'];
  /** Whether a first line asks to go on in the background, and for how long. */
  handOver(firstLine: string): false | { readonly timeoutMs: number | null };
}

/** A handler for a `command` entry. */
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

/** Looked for in the command and in the scripts that it runs, once and right before the first run. */
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

/** The session's current directory, unless it is gone. */
function findWorkingDirectory(cwd: string, { startDirectory, home }: ClaudeSession): string {
  if (existsSync(cwd)) return cwd;
  return existsSync(startDirectory) ? startDirectory : (home ?? '/');
}
