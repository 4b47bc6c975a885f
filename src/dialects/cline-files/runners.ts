import { type Decision, isRefusal, type Verdict } from '../../hooks/decision.ts';
import { createHookEngine } from '../../hooks/engine.ts';
import { type Vocabulary, vocabularyOfName } from '../../hooks/faces/faces.ts';
import { callOf, type HookEvent, type Moment } from '../../hooks/facts.ts';
import type { Handler } from '../../hooks/handler.ts';
import type { FileHookData } from './data.ts';
import { FILE_HOOKS, type FileHookName } from './names.ts';
import { eventFromData } from './read-payload.ts';

/** What one or several hooks answered, in the words of Cline's hooks. */
export interface HookOutput {
  readonly cancel: boolean;
  /** The older word for the opposite of `cancel`. */
  readonly shouldContinue: boolean;
  /** Text for the model; several are joined by a blank line. */
  readonly contextModification: string;
  /** Several are joined by a line break. */
  readonly errorMessage: string;
  readonly durationMs: number;
  /** The hook that took longest, so that its author learns why hooks are slow. */
  readonly slowest: Verdict['slowest'];
  /** Everything that is known, failures included. */
  readonly verdict: Verdict;
}

export interface RunHookOptions {
  readonly signal?: AbortSignal;
}

/**
 * Runs a hook with data of one event and tells what it answered. How it runs is up to the subclass,
 * so a test can run hooks without touching the file system.
 */
export abstract class HookRunner<Name extends FileHookName = FileHookName> {
  readonly name: Name;
  readonly id: string;

  constructor(name: Name, id: string) {
    this.name = name;
    this.id = id;
  }

  /** Must not reject for what the hook does wrong; that is part of the output's verdict. */
  abstract run(data: FileHookData[Name], options?: RunHookOptions): Promise<HookOutput>;

  /** What is known of the session that it runs in, such as its directory. */
  moment(): Partial<Moment> {
    return {};
  }
}

/** Stands where there is no hook: execution goes on. */
export class NoOpHookRunner<Name extends FileHookName = FileHookName> extends HookRunner<Name> {
  constructor(name: Name) {
    super(name, `none:${name}`);
  }

  override run(data: FileHookData[Name], options?: RunHookOptions): Promise<HookOutput> {
    return runHandlers({ name: this.name, handlers: [], moment: this.moment() }, data, options);
  }
}

export interface StdioHookSource<Name extends FileHookName> {
  readonly name: Name;
  readonly id: string;
  /** The executable, made ready to run. */
  readonly handlers: readonly Handler[];
  /** Asked at each run, so that a hook is told the time of its own run. */
  readonly moment: () => Partial<Moment>;
}

/** Runs one executable: JSON on its stdin, JSON from its stdout. */
export class StdioHookRunner<Name extends FileHookName = FileHookName> extends HookRunner<Name> {
  readonly #source: StdioHookSource<Name>;

  constructor(source: StdioHookSource<Name>) {
    super(source.name, source.id);
    this.#source = source;
  }

  override run(data: FileHookData[Name], options?: RunHookOptions): Promise<HookOutput> {
    return runHandlers({ ...this.#source, moment: this.moment() }, data, options);
  }

  override moment(): Partial<Moment> {
    return this.#source.moment();
  }
}

/** Runs several hooks of one event at once: any of them can stop it, all contexts are kept. */
export class CombinedHookRunner<Name extends FileHookName = FileHookName> extends HookRunner<Name> {
  readonly #runners: readonly HookRunner<Name>[];

  constructor(name: Name, runners: readonly HookRunner<Name>[]) {
    super(name, `combined:${name}`);
    this.#runners = runners;
  }

  override run(data: FileHookData[Name], options?: RunHookOptions): Promise<HookOutput> {
    const handlers = this.#runners.flatMap((runner) => handlersOf(runner, data));
    return runHandlers({ name: this.name, handlers, moment: this.moment() }, data, options);
  }

  override moment(): Partial<Moment> {
    const known: Partial<Moment> = {};
    for (const runner of this.#runners) Object.assign(known, runner.moment());
    return known;
  }
}

function handlersOf<Name extends FileHookName>(
  runner: HookRunner<Name>,
  data: FileHookData[Name],
): Handler[] {
  const vocabulary = vocabularyOf(data);
  return FILE_HOOKS[runner.name].events.map((event) => ({
    id: runner.id,
    dialect: 'cline',
    source: runner.id,
    event,
    vocabulary,
    onFailure: 'open',
    run: async ({ event: seen }, signal) =>
      answerOf(await runner.run(withSeenInput(data, seen), { signal })),
  }));
}

/** On a second look the call has another input than the one that the caller gave. */
function withSeenInput<Data extends object>(data: Data, event: HookEvent): Data {
  const call = callOf(event);
  return call === null ? data : { ...data, parameters: call.input };
}

/** The call's own face, in which it has no parts: the runner divides it for its own hooks. */
function vocabularyOf(data: object): Vocabulary {
  const name = 'toolName' in data && typeof data.toolName === 'string' ? data.toolName : '';
  return vocabularyOfName(name) ?? 'classic';
}

/** What a runner put out, as one answer: its own failures are told even if others of it decided. */
function answerOf(output: HookOutput): ReturnType<Handler['run']> {
  const { outcomes } = output.verdict;
  const [first, ...others] = outcomes.flatMap(({ hook, failure }) =>
    failure === null ? [] : [{ hook, failure }],
  );
  if (first !== undefined && others.length + 1 === outcomes.length && !output.cancel) {
    return { failure: first.failure };
  }
  const failed = first === undefined ? [] : [first, ...others];
  return {
    decision: decisionOf(output),
    notes: failed.map(({ hook, failure }) => `${hook} failed: ${failure.message}`),
  };
}

function decisionOf({ cancel, errorMessage, contextModification, verdict }: HookOutput): Decision {
  const effect = cancel || verdict.effect === 'stop' ? 'deny' : verdict.effect;
  return {
    ...(effect === 'pass' ? {} : { effect }),
    ...(errorMessage === '' ? {} : { reason: errorMessage }),
    ...(contextModification === '' ? {} : { context: contextModification }),
    ...(verdict.stop === null ? {} : { stop: verdict.stop }),
    ...(verdict.input === null ? {} : { input: verdict.input }),
  };
}

interface Hooks {
  readonly name: FileHookName;
  readonly handlers: readonly Handler[];
  readonly moment: Partial<Moment>;
}

async function runHandlers(
  { name, handlers, moment }: Hooks,
  data: Readonly<Record<string, unknown>>,
  options: RunHookOptions = {},
): Promise<HookOutput> {
  const engine = createHookEngine({
    sources: [{ handlers: () => handlers }],
    moment: () => ({ ...NO_MOMENT, ...moment }),
  });
  return outputOf(await engine.dispatch(eventFromData(name, data), options));
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

function outputOf(verdict: Verdict): HookOutput {
  const cancel = isRefusal(verdict.effect);
  return {
    cancel,
    shouldContinue: !cancel,
    contextModification: verdict.context.map(({ text }) => text.trim()).join('\n\n'),
    errorMessage: verdict.reasons.map(({ text }) => text.trim()).join('\n'),
    durationMs: verdict.slowest?.durationMs ?? 0,
    slowest: verdict.slowest,
    verdict,
  };
}
