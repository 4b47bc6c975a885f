import { HooklineError } from '../../../base/errors.ts';
import { getTypeName } from '../../../base/json.ts';
import { readReason, toShownText } from '../../../plugins/serialize/plain-value.ts';
import type { Handler } from '../../../hooks/handler.ts';
import { type CallTimeout, callWithTimeout } from '../../../plugins/call-with-timeout.ts';
import type { AgentExtensionRule } from '../../../plugins/contract/plugin.ts';
import type { PluginGroup } from '../../../plugins/loaded-plugin.ts';
import { runAsPlugin } from '../../../plugins/plugin-ownership.ts';

/** The rules of plugins, which are read when a run begins, before the first model request. */
export class PluginRules {
  /** Handlers that read the rules; empty without rules. */
  readonly handlers: readonly Handler[];
  #texts: readonly string[] = [];

  /** `toolNames` are the tools that the model gets. */
  constructor(group: PluginGroup, toolNames: () => readonly string[]) {
    const hasRules = group.plugins.some(({ contributions }) => contributions.rules.length > 0);
    const reader: Handler = {
      id: 'plugin:rules',
      dialect: 'plugin',
      source: 'rules of plugins',
      event: 'RunStart',
      vocabulary: 'sdk',
      onFailure: 'open',
      inOrder: true,
      run: async ({ event }, signal) => {
        // Sub-agents work by the rules of the run that they belong to.
        if (event.agent.parentId !== null) return undefined;
        this.#texts = await readRules(group, toolNames(), signal);
        return undefined;
      },
    };
    this.handlers = hasRules ? [reader] : [];
  }

  /** The text of the rules when the run began. */
  get text(): string {
    return this.#texts.join('\n\n');
  }
}

/** Reads the current rules of plugins, in their order; one that fails is left out and reported. */
async function readRules(
  { plugins, timeoutMs, onIssue }: PluginGroup,
  toolNames: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const texts: string[] = [];
  const working = plugins.filter((plugin) => plugin.readExit() === null);
  const all = working.flatMap(({ name, file, contributions }) =>
    contributions.rules.map((rule) => ({ plugin: name, file, rule })),
  );
  for (const { plugin, file, rule } of all) {
    try {
      const { whenToolAvailable: needed } = rule;
      if (needed !== undefined && !toolNames.includes(needed)) continue;
      texts.push(toShownText(await readContent(rule, file, { timeoutMs, signal })));
    } catch (error) {
      signal.throwIfAborted();
      const message = `the rule ${getRuleName(rule)} is left out: ${readReason(error)}`;
      onIssue({ plugin, phase: 'rule', level: 'warning', message });
    }
  }
  return texts.filter((text) => text !== '');
}

function getRuleName(rule: AgentExtensionRule): string {
  const id: unknown = Reflect.get(rule, 'id');
  return typeof id === 'string' ? id : 'without an id';
}

async function readContent(
  rule: AgentExtensionRule,
  file: string | null,
  limit: CallTimeout,
): Promise<string> {
  const { content } = rule;
  const text: unknown =
    typeof content === 'function'
      ? await callWithTimeout(() => runAsPlugin(file, () => content.call(rule)), limit)
      : content;
  if (text === undefined || text === null) return '';
  if (typeof text === 'string') return text.trim();
  throw new HooklineError('PLUGIN_INVALID', {
    message: `expected its content to be a text, found ${getTypeName(text)}`,
  });
}
