import type { FiredEvent } from '../../hooks/facts.ts';
import type { ToolUseBlock } from '../../sessions/messages.ts';
import type { ResumedSession } from '../../sessions/session-store.ts';

type TaskEvent = FiredEvent<'TaskStart' | 'TaskResume'>;

/** How far a task has come: begun, left with a call undecided, named. */
export interface TaskState {
  /** TaskStart with the first prompt, or TaskResume with or without one; null every further time. */
  takeTaskEvent(prompt: string | null): TaskEvent | null;
  /** The task was refused, so that the next prompt begins it. */
  giveBackTaskEvent(): void;
  /** A call that an earlier run left undecided. */
  takeDeferred(): ToolUseBlock | null;
  /** A run left it undecided again. */
  leaveDeferred(call: ToolUseBlock): void;
  title(): string | null;
  rename(title: string): void;
}

export function createTaskState(
  earlier: ResumedSession | null,
  keepTitle: (title: string) => void,
): TaskState {
  return {
    ...taskEvents(earlier),
    ...deferral(earlier),
    ...naming(earlier?.title ?? null, keepTitle),
  };
}

function taskEvents(earlier: ResumedSession | null) {
  let isBegun = false;
  return {
    takeTaskEvent(prompt: string | null): TaskEvent | null {
      if (isBegun || (earlier === null && prompt === null)) return null;
      isBegun = true;
      if (earlier === null) return { name: 'TaskStart', prompt: prompt ?? '' };
      const { lastMessageAt, messageCount } = earlier;
      const facts = { lastMessageAt, messageCount, historyDeleted: false };
      return { name: 'TaskResume', prompt: prompt ?? '', ...facts };
    },
    giveBackTaskEvent() {
      isBegun = false;
    },
  };
}

function deferral(earlier: ResumedSession | null) {
  let deferred = earlier?.deferred ?? null;
  return {
    takeDeferred(): ToolUseBlock | null {
      const taken = deferred;
      deferred = null;
      return taken;
    },
    leaveDeferred(call: ToolUseBlock) {
      deferred = call;
    },
  };
}

function naming(named: string | null, keep: (title: string) => void) {
  let current = named;
  return {
    title: () => current,
    rename(title: string) {
      current = title;
      keep(title);
    },
  };
}
