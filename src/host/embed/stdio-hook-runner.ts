import path from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { HooklineError } from '../../base/errors.ts';
import { clineFiles, type FileHookName } from '../../dialects/index.ts';
import type { DialectMachine } from '../../dialects/machine.ts';
import { type DispatchObserver, EngineHookRunner, resolveHookName } from './hook-runner.ts';
import type { FoundHook } from '../../dialects/discovery.ts';
import type { Moment } from '../../hooks/facts.ts';
import type { Handler } from '../../hooks/handler.ts';
import { type Config, loadConfig, readSurroundings, type Surroundings } from '../config.ts';
import { createBareMachine } from '../dialect-machine.ts';
import { buildHookEnvironment } from '../hook-set.ts';
import { createMoment } from '../moment.ts';

export interface StdioHookOptions<Name extends FileHookName> {
  readonly name: Name;
  /** The executable or script. It runs without a trust check, because the caller names it. */
  readonly path: string;
  readonly timeoutMs?: number;
  /** The directory and session facts of the hook. */
  readonly moment?: Partial<Moment>;
  /** Variables beside those of this process; the model providers' keys among those are withheld. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A hook whose handlers are already created. */
export interface PreparedHook<Name extends FileHookName> {
  readonly name: Name;
  readonly id: string;
  readonly path: string;
  readonly handlers: readonly Handler[];
  /** Called at each run, so that a hook gets the time of its own run. */
  readonly moment: () => Partial<Moment>;
  readonly observers: readonly DispatchObserver[];
}

/** Runs one executable: JSON on its stdin, JSON from its stdout. */
export class StdioHookRunner<
  Name extends FileHookName = FileHookName,
> extends EngineHookRunner<Name> {
  readonly path: string;
  readonly #hook: PreparedHook<Name>;

  constructor(options: StdioHookOptions<Name> | PreparedHook<Name>) {
    const hook = 'handlers' in options ? options : prepare(options);
    super(hook.name, hook.id);
    this.path = hook.path;
    this.#hook = hook;
  }

  override handlers(): readonly Handler[] {
    return this.#hook.handlers;
  }

  override observers(): readonly DispatchObserver[] {
    return this.#hook.observers;
  }

  override moment(): Partial<Moment> {
    return this.#hook.moment();
  }
}

function prepare<Name extends FileHookName>(options: StdioHookOptions<Name>): PreparedHook<Name> {
  const own = readSurroundings();
  const surroundings = { ...own, env: { ...own.env, ...options.env } };
  const name = resolveHookName(options.name);
  const file = path.resolve(surroundings.cwd, options.path);
  const config = readConfig(surroundings);
  const hook = findHook(file, name, createBareMachine(surroundings, config.settings));
  const moment = createMoment({ surroundings, clock: systemClock, known: options.moment ?? {} });
  // Files of one name in several directories have the same id among found hooks.
  const id = `file:${file}`;
  const handlers = hook.toHandlers({
    onFailure: 'open',
    timeoutMs: options.timeoutMs ?? config.settings['hooks.timeoutMs'],
    environment: buildHookEnvironment({
      surroundings,
      pass: [...config.settings['env.pass'], ...Object.keys(options.env ?? {})],
      sessionId: moment().sessionId,
    }),
    withheld: () => explainSwitchedOff(config),
  });
  const withId = handlers.map((handler) => ({ ...handler, id }));
  return { name, id, path: file, handlers: withId, moment, observers: [] };
}

function readConfig({ env }: Surroundings): Config {
  return loadConfig({ homeFile: null, workspaceFiles: [], env, flags: {} });
}

function findHook(file: string, name: FileHookName, machine: DialectMachine): FoundHook {
  const { hooks, ignored } = clineFiles.discoverFile(file, name, machine);
  const [hook] = hooks;
  if (hook !== undefined) return hook;
  throw new HooklineError('HOOK_UNKNOWN', {
    message: `expected a hook at ${file}, but it ${ignored[0]?.why ?? 'is none'}`,
    hint: 'Give the path of an executable or a script.',
  });
}

function explainSwitchedOff({ settings, origins }: Config): string | null {
  if (settings['hooks.enabled']) return null;
  return `hooks are switched off by ${origins['hooks.enabled']}`;
}
