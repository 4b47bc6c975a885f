import { HooklineError } from '../base/errors.ts';
import type { EventName, FiredEvent } from '../hooks/facts.ts';
import { type ClaudeConfigOptions, claudeConfigDialect } from './claude-config/dialect.ts';
import { readClaudePayload } from './claude-config/input/read-payload.ts';
import { CLAUDE_EVENT_NAMES, findClaudeEvent } from './claude-config/names.ts';
import { type ClineFilesOptions, clineFilesDialect } from './cline-files/dialect.ts';
import { FILE_HOOK_NAMES, findFileHookEvent } from './cline-files/names.ts';
import { readPayload } from './cline-files/read-payload.ts';
import { type ClinePluginOptions, clinePluginDialect } from './cline-plugin/dialect.ts';
import type { Dialect } from './dialect.ts';

export interface DialectOptions {
  readonly cline: ClineFilesOptions;
  readonly claude: ClaudeConfigOptions;
  readonly plugin: ClinePluginOptions;
}

// Payloads are read by functions of their own, so that looking at hooks does not load what reads them.
const DIALECTS: Readonly<Record<ProgramDialect, DialectRow>> = {
  cline: {
    eventNames: FILE_HOOK_NAMES,
    findEvent: findFileHookEvent,
    readPayload: (payload) => readPayload(payload),
  },
  claude: {
    eventNames: CLAUDE_EVENT_NAMES,
    findEvent: findClaudeEvent,
    readPayload: (payload) => readClaudePayload(payload),
  },
};

/** Dialects of programs: their events have names of their own, and payloads. */
type ProgramDialect = 'cline' | 'claude';

export type DialectName = ProgramDialect | 'plugin';

interface DialectRow {
  readonly eventNames: readonly string[];
  /** The event that this name means here, or null. */
  readonly findEvent: (name: string) => ForeignEvent | null;
  /** Reads what an agent of this dialect writes to a hook's stdin. */
  readonly readPayload: (payload: unknown) => FiredEvent;
}

export const DIALECT_NAMES: readonly ProgramDialect[] = ['cline', 'claude'];

// In the order in which their hooks are declared.
const CREATE: Readonly<Record<DialectName, (options: DialectOptions) => Dialect>> = {
  cline: ({ cline }) => clineFilesDialect(cline),
  claude: ({ claude }) => claudeConfigDialect(claude),
  plugin: ({ plugin }) => clinePluginDialect(plugin),
};

/** The wanted dialects, or all. */
export function createDialects(
  options: DialectOptions,
  wanted: readonly DialectName[] = ['cline', 'claude', 'plugin'],
): readonly Dialect[] {
  return Object.entries(CREATE)
    .filter(([name]) => wanted.some((each) => each === name))
    .map(([, create]) => create(options));
}

/** An event under a dialect's own name. */
export interface ForeignEvent {
  readonly event: EventName;
  readonly facts: Readonly<Record<string, string>>;
}

export function findForeignEvent(name: string): ForeignEvent | null {
  for (const dialect of DIALECT_NAMES) {
    const found = DIALECTS[dialect].findEvent(name);
    if (found !== null) return found;
  }
  return null;
}

export const FOREIGN_EVENT_NAMES: readonly string[] = DIALECT_NAMES.flatMap(
  (name) => DIALECTS[name].eventNames,
);

/** Reads what another agent would have written to a hook's stdin. */
export function readForeignPayload(agent: string, payload: unknown): FiredEvent {
  const known = DIALECT_NAMES.find((name) => name === agent);
  if (known !== undefined) return DIALECTS[known].readPayload(payload);
  throw new HooklineError('USAGE_INVALID', {
    message: `payloads of ${JSON.stringify(agent)} cannot be read; known are: ${DIALECT_NAMES.join(', ')}`,
    hint: 'Say --as cline or --as claude.',
  });
}
