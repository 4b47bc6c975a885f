import { HooklineError } from '../../base/errors.ts';
import { isRecord, getTypeName } from '../../base/json.ts';
import type { StandardIssue, StandardResult, StandardSchema } from '../contract/input-schema.ts';
import type { ProviderMessage } from '../contract/message.ts';
import type {
  AgentExtensionApi,
  AgentExtensionCommand,
  AgentExtensionCommandResult,
  AgentExtensionMessageBuilder,
  AgentExtensionRule,
} from '../contract/plugin.ts';
import { type AgentTool, checkedWith } from '../contract/tool.ts';
import type { ContextForms } from './context-forms.ts';
import { changedBy } from './in-place.ts';
import type { Link } from './link.ts';
import { without } from './wire/call-method.ts';
import type { SentLists } from './wire/known-lists.ts';
import { pack, unpack } from './wire/portable.ts';
import type { SetUpForm, ToolForm } from './wire/protocol.ts';

export interface FacadeMeans {
  readonly link: Link;
  readonly lists: SentLists;
  readonly forms: ContextForms;
  /** How long a hook, a rule, a command or a message builder may take. */
  readonly timeoutMs: number;
}

/** Registers here what `setup` registered there, each with functions that call it there; types of events are known already. */
export function registerAll(api: AgentExtensionApi, made: SetUpForm, means: FacadeMeans): void {
  made.tools.forEach((form, place) => api.registerTool(toolOf(form, place, means)));
  made.commands.forEach((form, place) => api.registerCommand(commandOf(form, place, means)));
  made.rules.forEach((form, place) => api.registerRule(ruleOf(form, place, means)));
  made.messageBuilders.forEach((form, place) =>
    api.registerMessageBuilder(builderOf(form, place, means)),
  );
  for (const provider of made.providers) api.registerProvider(provider);
  for (const server of made.mcpServers) api.registerMcpServer(server);
}

function toolOf({ fields, checks }: ToolForm, place: number, means: FacadeMeans): AgentTool {
  const { link, forms } = means;
  const tool: AgentTool = {
    ...fields,
    async execute(input, context) {
      const onUpdate = (update: unknown): void => context.emitUpdate?.(update);
      const order = {
        type: 'tool',
        place,
        input: pack(input),
        context: forms.of(without(context, ['emitUpdate'])),
        hasUpdates: 'emitUpdate' in context,
      } as const;
      const { value } = await link.ask(order, { signal: context.signal, onUpdate });
      return unpack(value);
    },
  };
  return checks ? checkedWith(tool, schemaThere(fields.inputSchema, place, means)) : tool;
}

/** The author's schema stays where it was made; what it makes of an input is used there, too. */
function schemaThere(
  jsonSchema: object,
  place: number,
  { link, timeoutMs }: FacadeMeans,
): StandardSchema {
  const standard = {
    version: 1,
    vendor: 'hookline',
    jsonSchema: { input: () => jsonSchema },
    async validate(value: unknown): Promise<StandardResult> {
      try {
        const answer = await link.ask({ type: 'check', place, input: pack(value) }, { timeoutMs });
        const issues = unpack(answer.value);
        return isIssues(issues) ? { issues } : { value };
      } catch {
        // That it cannot be asked is said when the tool is called.
        return { value };
      }
    },
  };
  return { '~standard': standard };
}

function isIssues(issues: unknown): issues is readonly StandardIssue[] {
  return Array.isArray(issues) && issues.length > 0;
}

function commandOf(
  { fields, hasFunction }: SetUpForm['commands'][number],
  place: number,
  { link, timeoutMs }: FacadeMeans,
): AgentExtensionCommand {
  if (!hasFunction) return fields;
  return {
    ...fields,
    async handler(input) {
      const { value } = await link.ask({ type: 'command', place, input }, { timeoutMs });
      return commandResult(unpack(value));
    },
  };
}

function commandResult(result: unknown): AgentExtensionCommandResult | undefined {
  if (typeof result === 'string') return result;
  if (!isRecord(result)) return undefined;
  const { reply, submitPrompt } = result;
  return {
    ...(typeof reply === 'string' ? { reply } : {}),
    ...(typeof submitPrompt === 'string' ? { submitPrompt } : {}),
  };
}

function ruleOf(
  { fields, hasFunction }: SetUpForm['rules'][number],
  place: number,
  { link, timeoutMs }: FacadeMeans,
): AgentExtensionRule {
  if (!hasFunction) return { content: '', ...fields };
  return {
    ...fields,
    async content() {
      const { value } = await link.ask({ type: 'rule', place }, { timeoutMs });
      const said = unpack(value);
      return typeof said === 'string' ? said : '';
    },
  };
}

function builderOf(
  { fields }: SetUpForm['messageBuilders'][number],
  place: number,
  { link, lists, timeoutMs }: FacadeMeans,
): AgentExtensionMessageBuilder {
  return {
    ...fields,
    async build(given) {
      const messages = lists.change(`built by ${place}`, given);
      const answer = await link.ask({ type: 'build', place, messages }, { timeoutMs });
      const change = answer.lists?.messages;
      const built = change === undefined ? unpack(answer.value) : changedBy(given, change);
      if (isMessages(built)) return built;
      throw new HooklineError('PLUGIN_INVALID', {
        message: `it gave ${built === undefined ? 'nothing' : getTypeName(built)}, expected a list of messages`,
      });
    },
  };
}

/** What is in it is looked at by whoever wanted it. */
function isMessages(built: unknown): built is readonly ProviderMessage[] {
  return Array.isArray(built);
}
