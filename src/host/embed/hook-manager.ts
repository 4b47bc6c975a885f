import { HooklineError } from '../../base/errors.ts';
import { systemClock } from '../../base/clock.ts';
import { isRecord } from '../../base/json.ts';
import { claude, readForeignPayload } from '../../dialects/index.ts';
import { describeEnd } from '../../dialects/command-handler.ts';
import { type Effect, isRefusal, type Verdict } from '../../hooks/decision.ts';
import { EventViews } from '../../hooks/event-views.ts';
import type { FiredEvent, HookEvent, Moment } from '../../hooks/facts.ts';
import type { Answer, HandlerInput } from '../../hooks/handler.ts';
import { runProgram } from '../../process/run.ts';
import { type Host, type HostOptions, openHost } from '../host.ts';
import { buildHookEnvironment } from '../hook-set.ts';
import type { ListedHook } from '../listed-hook.ts';
import { createMoment } from '../moment.ts';
import type { HookSearch } from '../open-hooks.ts';
import { readSurroundings } from '../surroundings.ts';
import type { ClaudeHookInput } from './hook-types.ts';
import { importInstalledSessions } from './installed-host.ts';

/** The agents that share Claude's format of events, by the names of their routes. */
export const SupportedAgent = {
  CLAUDE: 'claude',
  GEMINI: 'gemini',
  OPENCODE: 'opencode',
  CLINE: 'cline',
} as const;

export type SupportedAgent = (typeof SupportedAgent)[keyof typeof SupportedAgent];

export type HookManagerOptions = HookSearch & Pick<HostOptions, 'onNotice'>;

/** The hooks in Claude's format that were found, and what is wrong with their files. */
export class HookConfiguration {
  readonly #host: Host;

  private constructor(host: Host) {
    this.#host = host;
  }

  /** Reads every settings file and `hooks.json` of a workspace and of the user; runs nothing. */
  static async load(options: HookManagerOptions = {}): Promise<HookConfiguration> {
    const search = { ...options, dialects: [claude.name] };
    return new HookConfiguration(await openHost(search, importInstalledSessions));
  }

  /** Every hook, whether or not it may run. */
  get hooks(): readonly ListedHook[] {
    return this.#host.hooks().map(({ hook }) => hook);
  }

  /** Sentences about entries that do not count as they are written. */
  get problems(): readonly string[] {
    const ignored = this.#host.ignored();
    const isListed = (guard: string): boolean => ignored.some(({ why }) => guard.endsWith(why));
    return [
      ...ignored.map(({ path, why }) => `${path}: ${why}`),
      ...this.#host.missingGuards().filter((guard) => !isListed(guard)),
    ];
  }

  /** Fires an event at the hooks that fit it. */
  dispatch(event: FiredEvent, signal?: AbortSignal): Promise<Verdict> {
    return this.#host.engine.dispatch(event, signal === undefined ? {} : { signal });
  }

  close(): Promise<void> {
    return this.#host.dispose();
  }
}

/** Fires events at all hooks in Claude's format: which fit, all at once, one verdict. */
export class HookManager {
  readonly #configuration: Promise<HookConfiguration>;

  constructor(options: HookManagerOptions = {}) {
    this.#configuration = HookConfiguration.load(options);
    // Whoever uses it gets the error.
    this.#configuration.catch(() => undefined);
  }

  configuration(): Promise<HookConfiguration> {
    return this.#configuration;
  }

  /** Never rejects for what hooks do. */
  async execute(event: FiredEvent, signal?: AbortSignal): Promise<Verdict> {
    return (await this.#configuration).dispatch(event, signal);
  }

  async close(): Promise<void> {
    await (await this.#configuration).close();
  }
}

/** Translates events into the payloads that Claude hooks read, and back. */
export class EventTransformer {
  readonly #createEvent: (event: FiredEvent) => HookEvent;

  /** `moment` are the facts of your session; the rest has defaults. */
  constructor(moment: Partial<Moment> = {}) {
    const getMoment = createMoment(readSurroundings(), systemClock, moment);
    this.#createEvent = (event) => ({ ...getMoment(), ...event });
  }

  /** The payloads of an event: one, or one for each part of a call. Tools may have any agent's names. */
  async toClaude(event: FiredEvent): Promise<readonly ClaudeHookInput[]> {
    const encode = await claude.encode();
    return this.listInputs(event).flatMap((input) => {
      const payload: unknown = JSON.parse(encode(input) ?? 'null');
      return isPayload(payload) ? [payload] : [];
    });
  }

  /** The event that a payload describes. Throws PAYLOAD_INVALID for none. */
  fromClaude(payload: unknown): FiredEvent {
    return readForeignPayload(claude.name, payload);
  }

  /** An event as hooks in Claude's format see it. */
  listInputs(event: FiredEvent): readonly HandlerInput[] {
    return new EventViews(this.#createEvent(event), undefined).getView(claude.vocabulary).inputs;
  }
}

function isPayload(value: unknown): value is ClaudeHookInput {
  return isRecord(value);
}

export interface HookExecution extends Answer {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
  readonly durationMs: number;
}

const DEFAULT_TIMEOUT_SECONDS = 60;

/** Runs one shell command as a hook, without any settings file. It has the caller's trust. */
export class HookExecutor {
  readonly #transformer: EventTransformer;

  constructor(transformer = new EventTransformer()) {
    this.#transformer = transformer;
  }

  /** Never rejects for what the command does; `failure` says what went wrong. */
  async execute(
    { command, timeout = DEFAULT_TIMEOUT_SECONDS }: { command: string; timeout?: number },
    event: FiredEvent,
    signal?: AbortSignal,
  ): Promise<HookExecution> {
    const [input] = this.#transformer.listInputs(event);
    const payload = input === undefined ? null : (await claude.encode())(input);
    if (input === undefined || payload === null) throw createUnknownEventError(event.name);
    const timeoutMs = timeout * 1000;
    const { sessionId, cwd } = input.event;
    const program = {
      file: '/bin/sh',
      args: ['-c', command],
      cwd,
      env: buildHookEnvironment({ surroundings: readSurroundings(), pass: [], sessionId }),
      stdin: payload,
      timeoutMs,
      opensStdin: false,
    };
    const result = await runProgram(program, signal === undefined ? {} : { signal });
    const ended = describeEnd(result, timeoutMs);
    const { exitCode, durationMs } = result;
    const output = { stdout: result.stdout.text, stderr: result.stderr.text };
    const facts = { ...output, exitCode, durationMs };
    if (ended.failure !== undefined) return { ...ended, ...facts };
    const answer = (await claude.decode())(input, { ...output, exitCode: exitCode ?? 1 });
    return { ...ended, ...answer, ...facts };
  }
}

function createUnknownEventError(name: string): HooklineError {
  return new HooklineError('EVENT_UNKNOWN', {
    message: `expected an event of Claude's format, found ${name}`,
    hint: `The names are ${claude.events.names.join(', ')}.`,
  });
}

/** What an agent does with a tool call. */
export interface AppliedDecision {
  /** `ask`: the user must approve it. */
  readonly action: 'run' | 'ask' | 'deny';
  /** The input to run it with. */
  readonly input: unknown;
  /** Why not, for the model and the user; empty without a reason. */
  readonly reason: string;
  /** Text for the model. */
  readonly context: readonly string[];
  /** Whether the turn ends, now or after the call. */
  readonly endsTurn: boolean;
}

/** Applies a verdict to a call with this input: what to do, with which input, and what to say. */
export function applyDecision(verdict: Verdict, input: unknown): AppliedDecision {
  const { effect, reasons, context, stop } = verdict;
  return {
    action: chooseAction(effect),
    input: verdict.input ?? input,
    reason: reasons.map(({ text }) => text).join('\n'),
    context: context.map(({ text }) => text),
    endsTurn: stop !== null,
  };
}

/** A call that is deferred does not run here either. */
function chooseAction(effect: Effect | 'stop'): AppliedDecision['action'] {
  if (isRefusal(effect) || effect === 'defer') return 'deny';
  return effect === 'ask' ? 'ask' : 'run';
}
