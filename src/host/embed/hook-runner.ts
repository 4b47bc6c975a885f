import { isDeepStrictEqual } from 'node:util';
import { HooklineError } from '../../base/errors.ts';
import { isRecord, getTypeName } from '../../base/json.ts';
import { findClosestName } from '../../base/did-you-mean.ts';
import {
  type Decision,
  type Effect,
  isRefusal,
  joinContexts,
  type Outcome,
  type Verdict,
} from '../../hooks/decision.ts';
import { createHookEngine } from '../../hooks/engine.ts';
import { type Vocabulary, findVocabulary } from '../../tool-vocabularies/tool-views.ts';
import { getToolCall, type HookEvent, type Moment } from '../../hooks/facts.ts';
import type { Answer, Handler } from '../../hooks/handler.ts';
import { callObserver } from '../../base/callbacks.ts';
import type { DispatchRecord } from '../../hooks/dispatch-record.ts';
import {
  clineFiles,
  FILE_HOOK_NAMES,
  FILE_HOOKS,
  type FileHookData,
  type FileHookName,
  findFileHookName,
  readEventFromData,
} from '../../dialects/index.ts';
import path from 'node:path';
import { systemClock } from '../../base/clock.ts';
import type { DialectMachine, Surroundings } from '../../dialects/machine.ts';
import type { FoundHook } from '../../dialects/discovery.ts';
import { type Config, loadConfig } from '../config.ts';
import { getStateDirectory, readSurroundings } from '../surroundings.ts';
import { acquireProcessClaim } from '../../trust/claims.ts';
import { createBareMachine } from '../dialect-machine.ts';
import { buildHookEnvironment } from '../hook-set.ts';
import { createMoment } from '../moment.ts';

/** The answer of one or several hooks, with the field names of Cline's hooks. */
export interface HookOutput {
  readonly cancel: boolean;
  /** The older word for the opposite of `cancel`. */
  readonly shouldContinue: boolean;
  /** Text for the model; several are joined by a blank line. */
  readonly contextModification: string;
  /** Several are joined by a line break. */
  readonly errorMessage: string;
  /** Whether a user must approve the call first. */
  readonly review: boolean;
  /** The new input of the tool, in the form of the call; null when it is unchanged. */
  readonly overrideInput: unknown;
  readonly durationMs: number;
  /** The slowest hook. */
  readonly slowest: Verdict['slowest'];
  /** The whole verdict, including failures. */
  readonly verdict: Verdict;
}

export interface RunHookOptions {
  readonly signal?: AbortSignal;
}

/**
 * Runs a hook with the data of one event and returns its answer. A subclass decides how it runs, so
 * that a test can run hooks without the file system.
 */
export abstract class HookRunner<Name extends FileHookName = FileHookName> {
  readonly name: Name;
  readonly id: string;

  constructor(name: Name, id: string) {
    this.name = resolveHookName(name);
    this.id = id;
  }

  /** Must not reject when the hook fails; failures are part of the output's verdict. */
  abstract run(data: FileHookData[Name], options?: RunHookOptions): Promise<HookOutput>;

  /** Facts about its session, such as the directory. */
  moment(): Partial<Moment> {
    return {};
  }
}

export type DispatchObserver = (record: DispatchRecord) => void;

/** A runner whose hooks the engine runs itself: however many are combined, they are one dispatch. */
abstract class EngineHookRunner<Name extends FileHookName = FileHookName> extends HookRunner<Name> {
  abstract handlers(data: FileHookData[Name]): readonly Handler[];

  /** Observers of each dispatch. */
  observers(): readonly DispatchObserver[] {
    return [];
  }

  override async run(data: FileHookData[Name], options?: RunHookOptions): Promise<HookOutput> {
    requireData(this.name, data);
    const moment = this.moment();
    const engine = createHookEngine({
      sources: [{ handlers: () => this.handlers(data) }],
      moment: () => ({ ...NO_MOMENT, ...moment }),
      onDispatch: (record) =>
        this.observers().forEach((observer) =>
          callObserver('an observer of hooks', observer, record),
        ),
    });
    return toOutput(await engine.dispatch(readEventFromData(this.name, data), options));
  }
}

/** Used when there is no hook: execution continues. */
export class NoOpHookRunner<
  Name extends FileHookName = FileHookName,
> extends EngineHookRunner<Name> {
  constructor(name: Name) {
    super(name, `none:${name}`);
  }

  override handlers(): readonly Handler[] {
    return [];
  }
}

/** Runs several hooks of one event at once: any of them can stop it, all contexts are kept. */
export class CombinedHookRunner<
  Name extends FileHookName = FileHookName,
> extends EngineHookRunner<Name> {
  readonly #runners: readonly HookRunner<Name>[];

  constructor(name: Name, runners: readonly HookRunner<Name>[]) {
    super(name, `combined:${name}`);
    this.#runners = runners;
  }

  override handlers(data: FileHookData[Name]): readonly Handler[] {
    const ownMoment = this.moment();
    return this.#runners.flatMap((runner) =>
      canJoin(runner, ownMoment) ? runner.handlers(data) : createHandlers(runner, data),
    );
  }

  override observers(): readonly DispatchObserver[] {
    const ownMoment = this.moment();
    const joined = this.#runners.filter((runner) => canJoin(runner, ownMoment));
    return [...new Set(joined.flatMap((runner) => runner.observers()))];
  }

  override moment(): Partial<Moment> {
    const moment: Partial<Moment> = {};
    for (const runner of this.#runners) Object.assign(moment, runner.moment());
    return moment;
  }
}

/** Resolves a name in any spelling; JavaScript callers may pass anything. */
export function resolveHookName<Name extends FileHookName>(name: Name): Name {
  const value: unknown = name;
  const text = typeof value === 'string' ? value : '';
  const hookName = findFileHookName(text);
  // The type only offers the proper spelling, and that is what any other is turned into.
  if (hookName !== null) return hookName as Name;
  const suggestion = findClosestName(text, FILE_HOOK_NAMES);
  const all = `The names are ${FILE_HOOK_NAMES.join(', ')}.`;
  throw new HooklineError('EVENT_UNKNOWN', {
    message: `expected the name of a Cline hook, found ${JSON.stringify(name) ?? getTypeName(name)}`,
    hint: suggestion === null ? all : `Did you mean ${suggestion}? ${all}`,
  });
}

function requireData(name: FileHookName, data: unknown): void {
  if (isRecord(data)) return;
  throw new HooklineError('PAYLOAD_INVALID', {
    message: `expected the data of ${name} as an object, found ${getTypeName(data)}`,
    hint: 'Pass the data of its payload, such as { toolName, parameters } for PreToolUse.',
  });
}

/**
 * Whether the runner's hooks can be part of one dispatch in that place. A subclass that runs in its
 * own way must be asked itself, and so must hooks that know other directories.
 */
function canJoin<Name extends FileHookName>(
  runner: HookRunner<Name>,
  place: Partial<Moment>,
): runner is EngineHookRunner<Name> {
  if (!(runner instanceof EngineHookRunner)) return false;
  if (runner.run !== EngineHookRunner.prototype.run) return false;
  const { cwd, workspaceRoots } = { ...place, ...runner.moment() };
  return cwd === place.cwd && isDeepStrictEqual(workspaceRoots, place.workspaceRoots);
}

function createHandlers<Name extends FileHookName>(
  runner: HookRunner<Name>,
  data: FileHookData[Name],
): Handler[] {
  const vocabulary = detectVocabulary(data);
  return FILE_HOOKS[runner.name].events.map((event) => ({
    id: runner.id,
    dialect: clineFiles.name,
    source: runner.id,
    event,
    vocabulary,
    onFailure: 'open',
    run: async ({ event: rewritten }, signal) =>
      toAnswer(await runner.run(replaceInput(data, rewritten), { signal })),
  }));
}

/** In a second pass the call may have another input than the caller's. */
function replaceInput<Data extends object>(data: Data, event: HookEvent): Data {
  const call = getToolCall(event);
  return call === null ? data : { ...data, parameters: call.input };
}

/**
 * Uses the vocabulary of the call itself, in which it has one part; the runner splits it for its own
 * hooks.
 */
function detectVocabulary(data: object): Vocabulary {
  const name = 'toolName' in data && typeof data.toolName === 'string' ? data.toolName : '';
  return findVocabulary(name) ?? clineFiles.vocabulary;
}

/** Converts a runner's output to one answer; failures are reported even if other hooks decided. */
function toAnswer(output: HookOutput): Answer {
  const { outcomes, skipped } = output.verdict;
  const [only] = outcomes;
  if (only !== undefined && outcomes.length === 1) {
    return { ...toProgramAnswer(only), ...readOutput(output) };
  }
  const withheld = skipped.map(({ hook, why }) => `${hook} did not run: ${why}`);
  const failed = outcomes.flatMap(({ hook, failure }) =>
    failure === null ? [] : [`${hook} failed: ${failure.message}`],
  );
  return { ...readOutput(output), notes: [...failed, ...withheld] };
}

function toProgramAnswer({ exitCode, stdout, stderr, notes }: Outcome): Answer {
  if (stdout === null || stderr === null) return { notes };
  return { notes, program: { exitCode, stdout, stderr } };
}

function readOutput(output: HookOutput): Answer {
  const { outcomes } = output.verdict;
  const failures = outcomes.flatMap(({ failure }) => failure ?? []);
  const [first] = failures;
  if (first !== undefined && failures.length === outcomes.length && !output.cancel) {
    return { failure: first };
  }
  return { decision: toDecision(output) };
}

function toDecision(output: HookOutput): Decision {
  const { errorMessage, contextModification, verdict } = output;
  const effect = toEffect(output);
  const input = output.overrideInput ?? verdict.input;
  return {
    ...(effect === 'pass' ? {} : { effect }),
    ...(errorMessage === '' ? {} : { reason: errorMessage }),
    ...(contextModification === '' ? {} : { context: contextModification }),
    ...(verdict.stop === null ? {} : { stop: verdict.stop }),
    ...(input === null ? {} : { input }),
  };
}

function toEffect({ cancel, review, verdict }: HookOutput): Effect {
  if (cancel || verdict.effect === 'stop') return 'deny';
  return review ? 'ask' : verdict.effect;
}

const NO_MOMENT: Moment = {
  sessionId: '',
  taskId: '',
  ulid: '',
  at: 0,
  cwd: '/',
  workspaceRoots: [],
  permissionMode: 'default',
  model: { provider: 'unknown', id: 'unknown' },
  agent: { id: '', parentId: null, type: null },
  iteration: 0,
  userId: 'unknown',
  version: '',
  transcriptPath: null,
  promptId: null,
};

function toOutput(verdict: Verdict): HookOutput {
  const cancel = isRefusal(verdict.effect);
  return {
    cancel,
    shouldContinue: !cancel,
    contextModification: joinContexts(verdict.context.map(({ text }) => text.trim())),
    errorMessage: verdict.reasons.map(({ text }) => text.trim()).join('\n'),
    review: verdict.effect === 'ask',
    overrideInput: verdict.input,
    durationMs: verdict.slowest?.durationMs ?? 0,
    slowest: verdict.slowest,
    verdict,
  };
}

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
interface PreparedHook<Name extends FileHookName> {
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
    const hook = 'handlers' in options ? options : prepareHook(options);
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

function prepareHook<Name extends FileHookName>(
  options: StdioHookOptions<Name>,
): PreparedHook<Name> {
  const own = readSurroundings();
  const surroundings = { ...own, env: { ...own.env, ...options.env } };
  const name = resolveHookName(options.name);
  const file = path.resolve(surroundings.cwd, options.path);
  const config = readConfig(surroundings);
  const hook = findHook(file, name, createBareMachine(surroundings, config.settings));
  const moment = createMoment(surroundings, systemClock, options.moment ?? {});
  // Files of one name in several directories have the same id among found hooks.
  const id = `file:${file}`;
  acquireProcessClaim(getStateDirectory(own));
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
    message: `expected a hook at ${file}, but it ${ignored[0]?.why ?? 'is not a hook'}`,
    hint: 'Pass the path of an executable or a script.',
  });
}

function explainSwitchedOff({ settings, origins }: Config): string | null {
  if (settings['hooks.enabled']) return null;
  return `hooks are disabled by ${origins['hooks.enabled']}`;
}
