import type { EventName, HookEvent } from '../../hooks/facts.ts';

/** The generation of Cline that a hook was written for: both use the same keys with different values. */
export type Profile = 'classic' | 'sdk';

export const PROFILES: readonly Profile[] = ['classic', 'sdk'];

interface FileHookRow {
  /** The canonical events at which a file of this name runs. */
  readonly events: readonly EventName[];
  /** Its `hookName` in the SDK; the classic value is the file's name. */
  readonly sdkName: string;
  /** The facts that distinguish it from other hooks of the same event. */
  readonly facts: Readonly<Record<string, string>>;
  /** Returns why it does not run at this event, or null. */
  readonly misfit: (event: HookEvent) => string | null;
}

/** For hooks that run at every occurrence of their event. */
export const findNoMisfit = (): null => null;

/** Every file name that makes a hook. */
export const FILE_HOOKS = {
  TaskStart: { events: ['TaskStart'], sdkName: 'agent_start', facts: {}, misfit: findNoMisfit },
  TaskResume: { events: ['TaskResume'], sdkName: 'agent_resume', facts: {}, misfit: findNoMisfit },
  TaskCancel: {
    events: ['RunEnd'],
    sdkName: 'agent_abort',
    facts: { status: 'aborted' },
    misfit: requireStatus('aborted'),
  },
  TaskComplete: { events: ['TaskComplete'], sdkName: 'agent_end', facts: {}, misfit: findNoMisfit },
  TaskError: {
    events: ['RunEnd'],
    sdkName: 'agent_error',
    facts: { status: 'failed' },
    misfit: requireStatus('failed'),
  },
  PreToolUse: { events: ['PreToolUse'], sdkName: 'tool_call', facts: {}, misfit: findNoMisfit },
  PostToolUse: {
    events: ['PostToolUse', 'PostToolUseFailure'],
    sdkName: 'tool_result',
    facts: {},
    misfit: requireToolRun,
  },
  UserPromptSubmit: {
    events: ['UserPromptSubmit'],
    sdkName: 'prompt_submit',
    facts: {},
    misfit: findNoMisfit,
  },
  Notification: {
    events: ['Notification'],
    sdkName: 'notification',
    facts: {},
    misfit: findNoMisfit,
  },
  PreCompact: { events: ['PreCompact'], sdkName: 'pre_compact', facts: {}, misfit: findNoMisfit },
  SessionShutdown: {
    events: ['SessionEnd'],
    sdkName: 'session_shutdown',
    facts: {},
    misfit: findNoMisfit,
  },
} as const satisfies Record<string, FileHookRow>;

export type FileHookName = keyof typeof FILE_HOOKS;

export const FILE_HOOK_NAMES: readonly FileHookName[] =
  Object.keys(FILE_HOOKS).filter(isFileHookName);

export function isFileHookName(name: string): name is FileHookName {
  return Object.hasOwn(FILE_HOOKS, name);
}

/** Finds a hook name however it is spelled: `pretooluse` and the SDK's `tool_call` are PreToolUse. */
export function findFileHookName(name: string): FileHookName | null {
  const normalized = name.trim().toLowerCase();
  const isIt = (hookName: FileHookName): boolean =>
    hookName.toLowerCase() === normalized || FILE_HOOKS[hookName].sdkName === normalized;
  return FILE_HOOK_NAMES.find(isIt) ?? null;
}

function requireStatus(status: 'aborted' | 'failed'): (event: HookEvent) => string | null {
  return (event) => {
    if (event.name !== 'RunEnd') return null;
    if (event.agent.parentId !== null) return 'runs only for the task itself, not for a sub-agent';
    const isIt = event.status === status;
    return isIt ? null : `runs only when a run is ${status}, and this one is ${event.status}`;
  };
}

function requireToolRun(event: HookEvent): string | null {
  return event.name === 'PostToolUseFailure' && event.denied === true
    ? 'the call was denied, so the tool did not run'
    : null;
}

/** Finds the primary event of a hook name, and the facts that distinguish it from others of that event. */
export function findFileHookEvent(
  name: string,
): (Pick<FileHookRow, 'facts'> & { readonly event: EventName }) | null {
  const hookName = findFileHookName(name);
  if (hookName === null) return null;
  const { events, facts } = FILE_HOOKS[hookName];
  return { event: events[0], facts };
}

/** Lists the hook files that run at this event. */
export function listFileHookNames(event: HookEvent): readonly FileHookName[] {
  return FILE_HOOK_NAMES.filter((name) => {
    const { events, misfit } = FILE_HOOKS[name];
    return events.some((each) => each === event.name) && misfit(event) === null;
  });
}
