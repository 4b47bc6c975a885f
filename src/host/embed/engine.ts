import { systemClock } from '../../base/clock.ts';
import {
  createHookEngine as createEngine,
  type HookEngine,
  type HookEngineOptions,
} from '../../hooks/engine.ts';
import type { Moment } from '../../hooks/facts.ts';
import type { HandlerSource } from '../../hooks/handler.ts';
import type { DispatchSubscriber } from '../../hooks/dispatch-record.ts';
import { createExchangeSubscriber } from '../../trace/exchange.ts';
import { readSurroundings } from '../surroundings.ts';
import { createMoment } from '../moment.ts';
import { listHookNotices } from '../host.ts';
import { claude, clineFiles } from '../../dialects/index.ts';
import { type HookSearch, openHooks } from '../open-hooks.ts';

/** Handlers, with facts about their session and notices. */
export interface EmbeddedSource extends HandlerSource {
  /** Facts about the session, such as the workspace roots. */
  moment?(): Partial<Moment>;
  /** Notices for the user that belong to no dispatch. */
  notices?(): readonly string[];
  /** Observes the dispatches of every engine with this source. */
  readonly subscriber?: DispatchSubscriber;
}

export interface EmbeddedEngineOptions extends Omit<HookEngineOptions, 'moment' | 'sources'> {
  /** In declared order. The first source's moment provides defaults for `moment`. */
  readonly sources: readonly EmbeddedSource[];
  /** Facts about your session; the rest has defaults. */
  readonly moment?: Partial<Moment>;
  /** Gets messages about problems with settings, the trust record and places of hooks. */
  readonly onNotice?: (notice: string) => void;
}

/** An engine for an agent of your own: give it sources of hooks, fire events, obey the verdicts. */
export function createHookEngine(options: EmbeddedEngineOptions): HookEngine {
  const { moment = {}, onNotice, ...engineOptions } = options;
  const { sources } = engineOptions;
  for (const notice of sources.flatMap((source) => source.notices?.() ?? [])) onNotice?.(notice);
  const joinedMoment = joinMoments(sources[0]?.moment?.() ?? {}, moment);
  const engine = createEngine({
    ...engineOptions,
    moment: createMoment(readSurroundings(), systemClock, joinedMoment),
  });
  for (const { subscriber } of sources) if (subscriber !== undefined) engine.subscribe(subscriber);
  return engine;
}

/** An agent that was named after the source's session gets the id of the caller's session, if it differs. */
function joinMoments(
  { agent, ...found }: Partial<Moment>,
  moment: Partial<Moment>,
): Partial<Moment> {
  const isRenamed = moment.sessionId !== undefined && agent?.id === found.sessionId;
  return { ...found, ...(agent === undefined || isRenamed ? {} : { agent }), ...moment };
}

/** Creates a source for `createHookEngine` with Cline's file hooks of a workspace and of the user. */
export function createClineFilesSource(search: HookSearch = {}): EmbeddedSource {
  return createSource({ ...search, dialects: [clineFiles.name] });
}

/** Creates a source with hooks in Claude's format (settings, plugins, `.cline/hooks.json`). */
export function createClaudeHooksSource(search: HookSearch = {}): EmbeddedSource {
  return createSource({ ...search, dialects: [claude.name] });
}

function createSource(search: HookSearch): EmbeddedSource {
  const opened = openHooks(search);
  const { hookSet, moment } = opened;
  const source = {
    ...hookSet,
    handlers() {
      opened.claim.hold();
      return hookSet.handlers();
    },
    moment,
    notices: () => listHookNotices(opened),
  };
  const { onExchange } = search;
  if (onExchange === undefined) return source;
  const isOwn = (id: string): boolean => hookSet.hooks().some(({ unit }) => unit.id === id);
  return { ...source, subscriber: createExchangeSubscriber(onExchange, isOwn) };
}
