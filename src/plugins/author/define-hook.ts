import type { AgentRuntimeHooks, HookName } from '../contract/runtime-hooks.ts';

export interface HookWishes {
  /**
   * What the hook could not look at must not pass: when it throws or takes too long, what it was asked
   * about is refused, and it is never switched off.
   */
  failClosed?: boolean;
}

/**
 * A hook by itself, typed by the name of its moment: `hooks: { beforeTool: defineHook('beforeTool', …) }`.
 * What comes back is the function itself, marked with its wishes.
 */
export function defineHook<Name extends HookName>(
  _name: Name,
  hook: AgentRuntimeHooks[Name],
  { failClosed = false }: HookWishes = {},
): AgentRuntimeHooks[Name] & HookWishes {
  return Object.assign(hook, { failClosed });
}
