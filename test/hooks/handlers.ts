import { onTestFinished } from 'vitest';
import type { Decision, Outcome } from '../../src/hooks/decision.ts';
import {
  createHookEngine,
  type HookEngine,
  type HookEngineOptions,
} from '../../src/hooks/engine.ts';
import type { FiredEvent, Moment } from '../../src/hooks/facts.ts';
import type { Answer, Handler } from '../../src/hooks/handler.ts';

export const MOMENT: Moment = {
  sessionId: 's',
  taskId: 't',
  ulid: '01J',
  at: 1_767_225_600_123,
  cwd: '/ws',
  workspaceRoots: ['/ws'],
  permissionMode: 'default',
  model: { provider: 'p', id: 'm' },
  agent: { id: 'a', parentId: null, type: null },
  iteration: 1,
  userId: 'u',
  version: '1.2.3',
  transcriptPath: null,
  promptId: null,
};

type Run = Handler['run'];

/** A handler in this process; other fields have harmless defaults. */
export function handler(id: string, run: Run, wanted: Partial<Handler> = {}): Handler {
  return {
    id,
    dialect: 'test',
    source: `${id}.ts`,
    event: 'PreToolUse',
    vocabulary: 'claude',
    onFailure: 'open',
    ...wanted,
    run,
  };
}

export function deciding(id: string, decision: Decision, wanted: Partial<Handler> = {}): Handler {
  return handler(id, () => ({ decision }), wanted);
}

/** An engine over these handlers, closed after the test. */
export function engineOf(
  handlers: readonly Handler[],
  options: Partial<HookEngineOptions> = {},
): HookEngine {
  const engine = createHookEngine({
    sources: [{ handlers: () => handlers }],
    moment: () => MOMENT,
    ...options,
  });
  onTestFinished(() => engine.close());
  return engine;
}

export function bash(command: string): FiredEvent<'PreToolUse'> {
  return { name: 'PreToolUse', tool: { callId: 'c', name: 'Bash', input: { command } } };
}

export function runCommands(...commands: string[]): FiredEvent<'PreToolUse'> {
  return { name: 'PreToolUse', tool: { callId: 'c', name: 'run_commands', input: { commands } } };
}

export interface Gate<Value = void> {
  readonly passed: Promise<Value>;
  open(value: Value): void;
}

/** A promise and the way to fulfil it, to bring concurrent things into a known order. */
export function gate<Value = void>(): Gate<Value> {
  let open: (value: Value) => void = () => undefined;
  const passed = new Promise<Value>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

/** Runs until the signal aborts, as a handler must. */
export function untilAborted(signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve) => {
    const end = (): void => resolve({ failure: { kind: 'killed', message: 'ended' } });
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}

/** An outcome of a handler that passed, but for what is given. */
export function outcomeOf(input: Partial<Outcome> = {}): Outcome {
  return {
    hook: 'one',
    dialect: 'test',
    source: 'one.ts',
    status: 'decided',
    effect: 'pass',
    pass: 1,
    part: null,
    exitCode: null,
    durationMs: 1,
    failure: null,
    onFailure: 'open',
    notes: [],
    stdout: null,
    stderr: null,
    decision: {},
    ...input,
  };
}
