import path from 'node:path';
import { systemClock } from '../base/clock.ts';
import { dropUndefined } from '../base/defined.ts';
import { HooklineError } from '../base/errors.ts';
import { isDirectory, readTextIfPresent } from '../base/files.ts';
import { DIALECTS } from '../dialects/index.ts';
import type { Dialect, FoundAt } from '../dialects/dialect.ts';
import type { DialectMachine, Surroundings } from '../dialects/machine.ts';
import type { FoundHook, Grant } from '../dialects/discovery.ts';
import { loadConfig } from '../host/config.ts';
import { getStateDirectory, readSurroundings } from '../host/surroundings.ts';
import { createLazyClaim } from '../trust/claims.ts';
import { createBareMachine } from '../host/dialect-machine.ts';
import { buildHookEnvironment } from '../host/hook-set.ts';
import { createMoment } from '../host/moment.ts';
import type { Settings } from '../host/settings.ts';
import type { Verdict } from '../hooks/decision.ts';
import { createHookEngine } from '../hooks/engine.ts';
import type { HookEvent } from '../hooks/facts.ts';
import { resolveEvent, type EventDescription } from './resolve-event.ts';

export interface FireHookOptions extends Omit<EventDescription, 'event'> {
  /** A hook file, or a directory of hooks. Naming it here is the decision to run it. */
  readonly hook: string;
  /** May be left out for a file that is named after its event. */
  readonly event?: string;
  /** The workspace of the hook, in which it also runs; the current directory by default. */
  readonly workspace?: string;
  /** Variables beside those of this process; the model providers' keys among those are withheld. */
  readonly env?: Readonly<Record<string, string>>;
  readonly settings?: Partial<Settings>;
  readonly signal?: AbortSignal;
}

/** Fires an event at one hook file, or at the hooks of one directory and no others. */
export async function fireHook(options: FireHookOptions): Promise<Verdict> {
  const own = readSurroundings();
  const cwd = path.resolve(own.cwd, options.workspace ?? '');
  const target = path.resolve(own.cwd, options.hook);
  const fired = resolveEvent({ ...options, event: options.event ?? path.parse(target).name });
  const surroundings = { ...own, env: { ...own.env, ...options.env } };
  const settings = readSettings(surroundings.env, options.settings);
  const moment = createMoment(surroundings, systemClock, { cwd, workspaceRoots: [cwd] });
  const event: HookEvent = { ...moment(), ...fired };
  const hooks = findHooksFor(target, event, createBareMachine(surroundings, settings));
  const environment = buildHookEnvironment({
    surroundings,
    // A variable that the test sets is for the hook.
    pass: [...settings['env.pass'], ...Object.keys(options.env ?? {})],
    sessionId: event.sessionId,
  });
  const handlers = hooks.flatMap((hook) => hook.toHandlers(createGrant(settings, environment)));
  const engine = createHookEngine({ sources: [{ handlers: () => handlers }], moment, readText });
  const { signal } = options;
  const claim = createLazyClaim(getStateDirectory(own));
  claim.hold();
  try {
    return await engine.dispatch(fired, dropUndefined({ signal }));
  } finally {
    claim.release();
  }
}

function readSettings(env: Surroundings['env'], flags: Partial<Settings> = {}): Settings {
  return loadConfig({ homeFile: null, workspaceFiles: [], env, flags }).settings;
}

/**
 * Finds the hooks for this event; the first dialect that has any counts, so that no file runs twice.
 * Throws when there is none, because that is a mistake of the test.
 */
function findHooksFor(
  target: string,
  event: HookEvent,
  machine: DialectMachine,
): readonly FoundHook[] {
  const reasons: string[] = [];
  for (const dialect of DIALECTS) {
    const names = dialect.events.listNames(event);
    const { hooks, ignored } = discoverAt(target, dialect, names, machine);
    const matching = hooks.filter(({ unit }) => names.includes(unit.eventName));
    if (matching.length > 0) return matching;
    reasons.push(...ignored.map(({ path: file, why }) => `${path.basename(file)} ${why}`));
  }
  throw new HooklineError('HOOK_UNKNOWN', {
    message: `expected a hook for ${event.name} at ${target}, found none`,
    hint: reasons.length === 0 ? 'Name a hook file or a directory of hooks.' : reasons.join('; '),
  });
}

const NOTHING: FoundAt = { hooks: [], ignored: [] };

/** A file runs under its own name, if the event has that; else under the event's first name. */
function discoverAt(
  target: string,
  { discoverDirectory, discoverFile }: Dialect,
  names: readonly string[],
  machine: DialectMachine,
): FoundAt {
  if (isDirectory(target)) return discoverDirectory?.(target, machine) ?? NOTHING;
  const fileName = path.parse(target).name.trim().toLowerCase();
  const name = names.find((each) => each.toLowerCase() === fileName) ?? names[0];
  return name === undefined ? NOTHING : (discoverFile?.(target, name, machine) ?? NOTHING);
}

function createGrant(settings: Settings, environment: Grant['environment']): Grant {
  return {
    onFailure: settings['hooks.onFailure'] === 'block' ? 'closed' : 'open',
    timeoutMs: settings['hooks.timeoutMs'],
    environment,
    withheld: () => null,
  };
}

function readText(file: string): string | null {
  try {
    return readTextIfPresent(file);
  } catch {
    // A view of a tool call that needs the text of a file is made without it.
    return null;
  }
}
