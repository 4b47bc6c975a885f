import type { EventName, HookEvent } from '../../hooks/facts.ts';
import type { DialectEvents, ForeignEvent } from '../dialect.ts';

/** The hooks of a plugin, each with the events at which it is called. */
const PLUGIN_HOOKS: Readonly<Record<string, readonly EventName[]>> = {
  beforeRun: ['RunStart'],
  afterRun: ['RunEnd'],
  beforeModel: ['ModelRequest'],
  afterModel: ['ModelResponse'],
  beforeTool: ['PreToolUse'],
  afterTool: ['PostToolUse', 'PostToolUseFailure'],
};

export const pluginEvents: DialectEvents = {
  names: Object.keys(PLUGIN_HOOKS),
  areFunctions: true,
  find(name: string): ForeignEvent | null {
    const hook = Object.keys(PLUGIN_HOOKS).find(
      (each) => each.toLowerCase() === name.toLowerCase(),
    );
    const event = hook === undefined ? undefined : PLUGIN_HOOKS[hook]?.[0];
    return event === undefined ? null : { event, facts: {} };
  },
  listNames: ({ name }: HookEvent): readonly string[] =>
    Object.keys(PLUGIN_HOOKS).filter((hook) => PLUGIN_HOOKS[hook]?.includes(name)),
};
