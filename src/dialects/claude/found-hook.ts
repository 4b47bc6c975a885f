import type { Handler } from '../../hooks/handler.ts';
import { createFailingHandler } from '../command-handler.ts';
import type { Binds, FoundHook, Grant } from '../discovery.ts';
import { computeBinds } from './binding.ts';
import { listCommandNotes } from './config/command-notes.ts';
import type { BrokenEntry, CommandEntry, Entry } from './entry.ts';
import type { EntryHandlers } from './entry-handlers.ts';
import { explainUnquotedPlaces } from './handlers/start-notes.ts';
import { formatLabel } from './identity.ts';
import { compileFit, type Fit } from './match/fit.ts';
import type { Budget } from './match/matching.ts';
import { CLAUDE_EVENTS, type ClaudeEvent, isGate, NEVER_FIRED } from './events.ts';
import { getFailurePolicy } from './output/failures.ts';
import type { ClaudeSession } from './session.ts';

/** An entry with its id in this session. */
export interface NamedEntry {
  readonly entry: Entry;
  readonly id: string;
  readonly ownId: string;
  /** Its index among the hooks of its event, from 0. */
  readonly index: number;
}

/** Shared by all hooks of one discovery. */
export interface HookServices {
  readonly session: ClaudeSession;
  readonly handlers: EntryHandlers;
  readonly budget: Budget;
}

export function createFoundHook(
  { entry, id, ownId, index }: NamedEntry,
  { session, handlers, budget }: HookServices,
): FoundHook {
  const { source, event } = entry;
  const fit = compileFit(entry, { home: session.home, budget });
  const problem = fit.problem ?? handlers.findProblem(entry);
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
        return [...entry.notes, ...ofCommand, ...fit.notes, ...explainNeverFired(event)];
      },
      problem,
      details: describeDetails(entry),
    },
    events: [CLAUDE_EVENTS[event].event],
    matcher: entry.matcher ?? null,
    timeoutMs: entry.timeoutMs,
    onFailure: getFailurePolicy(event, entry.onFailure),
    toHandlers: (grant) => createHandlers({ entry, id, index, fit }, { grant, handlers }),
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
    ...(entry.condition === undefined ? {} : { if: entry.condition }),
    ...(entry.type === 'command' && (entry.async || entry.asyncRewake)
      ? { background: entry.async ? 'async' : 'asyncRewake' }
      : {}),
    ...(entry.statusMessage === null ? {} : { statusMessage: entry.statusMessage }),
  };
}

interface HandlerTarget {
  readonly entry: Entry;
  readonly id: string;
  readonly index: number;
  readonly fit: Fit;
}

interface HandlerSetup {
  readonly grant: Grant;
  readonly handlers: EntryHandlers;
}

function createHandlers(
  { entry, id, index, fit }: HandlerTarget,
  { grant, handlers }: HandlerSetup,
): readonly Handler[] {
  const { event, source } = entry;
  const target = { ...createTarget({ id, event, grant }), source: `${source.file}:${entry.line}` };
  if (fit.problem !== null && isGate(event)) return [createFailingHandler(target, fit.problem)];
  const { fits } = fit;
  return [handlers.createHandler(entry, { ...target, fits }, grant, index)];
}

function createTarget({ id, event, grant }: { id: string; event: ClaudeEvent; grant: Grant }) {
  return {
    id,
    dialect: 'claude',
    event: CLAUDE_EVENTS[event].event,
    vocabulary: 'claude',
    onFailure: grant.onFailure,
    withheld: grant.withheld,
  } as const;
}

/** A broken gate with its id in this session. */
export interface NamedGate {
  readonly broken: BrokenGate;
  readonly id: string;
  readonly ownId: string;
}

export type BrokenGate = BrokenEntry & { readonly event: ClaudeEvent };

/** Creates a hook for an invalid gate entry: each dispatch of its event reports a failure. */
export function createBrokenGate({ broken, id, ownId }: NamedGate): FoundHook {
  const { source, line, event, why } = broken;
  return {
    kind: 'hook',
    unit: {
      id,
      ownId,
      dialect: 'claude',
      eventName: event,
      path: source.file,
      line,
      place: source.place,
      root: source.root,
      binds: { entry: source.file, text: why, files: [], directories: [] },
      runsNothing: true,
      notes: [],
      problem: why,
      details: { source: source.label },
    },
    events: [CLAUDE_EVENTS[event].event],
    matcher: null,
    timeoutMs: 0,
    onFailure: 'open',
    toHandlers: (grant) => [
      createFailingHandler(
        { ...createTarget({ id, event, grant }), source: `${source.file}:${line}` },
        why,
      ),
    ],
  };
}
