import { HooklineError } from '../base/errors.ts';
import type { EventName, FiredEvent } from '../hooks/facts.ts';
import type { LaunchMachine } from '../process/interpreter.ts';
import { clineFilesDialect } from './cline-files/dialect.ts';
import type { HookPlaces } from './cline-files/directories.ts';
import {
  FILE_HOOK_NAMES,
  FILE_HOOKS,
  findFileHookName,
  type Profile,
} from './cline-files/names.ts';
import { readPayload } from './cline-files/read-payload.ts';
import type { Dialect } from './dialect.ts';

export interface DialectOptions {
  readonly places: HookPlaces;
  readonly machine: LaunchMachine;
  readonly profiles: Readonly<Record<string, Profile>>;
  readonly cancel: 'deny' | 'stop';
  readonly maxContextChars: number;
}

/** Every dialect, in the order in which their hooks are declared. */
export function createDialects(options: DialectOptions): readonly Dialect[] {
  return [clineFilesDialect(options)];
}

/** An event under a dialect's own name. */
export interface ForeignEvent {
  readonly event: EventName;
  readonly facts: Readonly<Record<string, string>>;
}

export function findForeignEvent(name: string): ForeignEvent | null {
  const known = findFileHookName(name);
  return known === null
    ? null
    : { event: FILE_HOOKS[known].events[0], facts: FILE_HOOKS[known].facts };
}

export const FOREIGN_EVENT_NAMES: readonly string[] = FILE_HOOK_NAMES;

/** Reads what another agent would have written to a hook's stdin. */
export function readForeignPayload(agent: string, payload: unknown): FiredEvent {
  if (agent === 'cline') return readPayload(payload);
  throw new HooklineError('USAGE_INVALID', {
    message: `payloads of ${JSON.stringify(agent)} cannot be read; known is: cline`,
    hint: 'Say --as cline.',
  });
}
