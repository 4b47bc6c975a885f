import { dropUndefined } from '../../base/defined.ts';
import type { Failure } from '../../hooks/decision.ts';
import { createFailingHandler } from '../command-handler.ts';
import type { Binds, DiscoveredUnit, FoundHook, Grant } from '../discovery.ts';
import { computeBinds } from './binding.ts';
import { listCommandNotes } from './config/command-notes.ts';
import type { BrokenEntry, CommandEntry, Entry, Limited } from './entry.ts';
import type { EntryHandlers } from './entry-handlers.ts';
import { explainUnquotedPlaces } from './handlers/start-notes.ts';
import { formatLabel } from './identity.ts';
import type { EntryMatcher } from './match/entry-matcher.ts';
import { CLAUDE_EVENTS, type ClaudeEvent, isGate, NEVER_FIRED } from './events.ts';
import { adviseOnFailure } from './output/advice.ts';
import { getFailurePolicy } from './output/failures.ts';
import type { ClaudeSession } from './session.ts';

const CORRECT_FILE = 'Correct the file; until then its hooks do not run.';
const CORRECT_ENTRY = 'Correct the entry; until then its hooks do not run.';

type UnitName = Pick<DiscoveredUnit, 'id' | 'ownId'>;

/** Creates the hook of an entry; `index` counts the hooks of its event from 0. */
export function createFoundHook(
  entry: Limited<Entry>,
  { id, ownId, index }: UnitName & { readonly index: number },
  entryMatcher: EntryMatcher,
  handlers: EntryHandlers,
  session: ClaudeSession,
): FoundHook {
  const { source, event } = entry;
  const problem = entryMatcher.problem ?? handlers.findProblem(entry);
  let binds: Binds | null = null;
  return {
    kind: 'hook',
    unit: {
      id,
      ownId,
      dialect: 'claude',
      eventName: event,
      path: source.file,
      line: entry.line,
      place: source.place,
      root: source.root,
      // Computed on first use, because it loads a shell parser.
      get binds() {
        return (binds ??= computeBinds(entry, session));
      },
      ...(source.kind === 'managed' ? { isFixed: true } : {}),
      get notes() {
        const ofCommand = entry.type === 'command' ? collectCommandNotes(entry, session) : [];
        const ofEntry = [...entry.notes, ...(entry.mistakes ?? [])];
        return [...ofEntry, ...ofCommand, ...entryMatcher.notes, ...explainNeverFired(event)];
      },
      get mistakes() {
        return [...(entry.mistakes ?? []), ...entryMatcher.mistakes];
      },
      problem,
      details: describeDetails(entry),
    },
    events: [CLAUDE_EVENTS[event].event],
    matcher: entry.matcher ?? null,
    timeoutMs: entry.timeoutMs,
    onFailure: getFailurePolicy(event, entry.onFailure),
    toHandlers(grant) {
      const target = {
        ...createTarget(id, event, grant),
        source: `${source.file}:${entry.line}`,
        advise: (failure: Failure) => adviseOnFailure(entry.type, event, failure),
      };
      if (entryMatcher.problem !== null && isGate(event)) {
        const failing = { ...target, advise: () => CORRECT_ENTRY };
        return [createFailingHandler(failing, entryMatcher.problem, 'config')];
      }
      const { fits } = entryMatcher;
      return [handlers.createHandler(entry, { ...target, fits }, grant, index)];
    },
  };
}

function collectCommandNotes(entry: CommandEntry, session: ClaudeSession): readonly string[] {
  const env = { ...session.env, ...session.settingsEnv };
  return [...listCommandNotes(entry, env), ...explainUnquotedPlaces(entry, session)];
}

function explainNeverFired(event: ClaudeEvent): readonly string[] {
  const why = NEVER_FIRED[event];
  return why === undefined ? [] : [`${event} never fires here: ${why}`];
}

function describeDetails(entry: Entry): Record<string, string> {
  return {
    type: entry.type,
    source: entry.source.label,
    runs: formatLabel(entry),
    ...dropUndefined({
      if: entry.condition,
      background: findBackgroundKind(entry),
      statusMessage: entry.statusMessage ?? undefined,
    }),
  };
}

function findBackgroundKind(entry: Entry): 'async' | 'asyncRewake' | undefined {
  if (entry.type !== 'command') return undefined;
  if (entry.async) return 'async';
  return entry.asyncRewake ? 'asyncRewake' : undefined;
}

function createTarget(id: string, event: ClaudeEvent, grant: Grant) {
  return {
    id,
    dialect: 'claude',
    event: CLAUDE_EVENTS[event].event,
    vocabulary: 'claude',
    onFailure: grant.onFailure,
    withheld: grant.withheld,
  } as const;
}

/**
 * Creates a hook for an invalid gate entry, or for a file that cannot be parsed and may contain any: each
 * dispatch of its events reports a failure.
 */
export function createBrokenGate(
  { source, line, why, event }: BrokenEntry,
  gates: readonly ClaudeEvent[],
  { id, ownId }: UnitName,
): FoundHook {
  return {
    kind: 'hook',
    unit: {
      id,
      ownId,
      dialect: 'claude',
      eventName: gates.join(', '),
      path: source.file,
      line,
      place: source.place,
      root: source.root,
      binds: { entry: source.file, text: why, files: [], directories: [] },
      runsNothing: true,
      ...(event === null ? { isWholeFile: true } : {}),
      notes: [],
      problem: why,
      details: { source: source.label },
    },
    events: gates.map((gate) => CLAUDE_EVENTS[gate].event),
    matcher: null,
    timeoutMs: 0,
    onFailure: 'open',
    toHandlers: (grant) =>
      gates.map((gate) =>
        createFailingHandler(
          {
            ...createTarget(id, gate, grant),
            source: `${source.file}:${line}`,
            advise: () => (event === null ? CORRECT_FILE : CORRECT_ENTRY),
          },
          why,
          'config',
        ),
      ),
  };
}
