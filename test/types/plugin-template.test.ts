import { expect, it } from 'vitest';
import { PLUGIN_HOOK_NAMES } from '../../src/dialects/cline-plugins/templates/hooks.ts';
import { renderPluginFile } from '../../src/dialects/cline-plugins/templates/plan.ts';
import { problemsIn } from './compile.ts';

/** All types that `@cline/core` has for plugins. */
const NAMES = `
  AgentAfterToolResult AgentBeforeModelResult AgentBeforeToolResult AgentExtension
  AgentExtensionApi AgentExtensionAutomationEventType AgentExtensionCapability
  AgentExtensionCommand AgentExtensionCommandResult AgentExtensionContext
  AgentExtensionMcpServer AgentExtensionMessageBuilder AgentExtensionProvider
  AgentExtensionRule AgentFilePart AgentHooks AgentImagePart AgentMessage AgentMessagePart
  AgentModel AgentModelEvent AgentModelRequest AgentPlugin AgentPluginCommand
  AgentReasoningPart AgentResult AgentRunResult AgentRunStartResult AgentRuntimeEvent
  AgentRuntimeHooks AgentRuntimeStateSnapshot AgentStopControl AgentTextPart AgentTool
  AgentToolCallPart AgentToolContext AgentToolResult AgentToolResultPart
  AutomationEventEnvelope BasicLogger ClientContext ClineCoreOptions ClineCoreStartInput
  ContentBlock CoreSessionConfig CoreSessionEvent ExtensionContext FileContent
  ITelemetryService ImageContent Message MessageWithMetadata PluginManifest PluginSetupContext
  StartSessionResult TextContent ThinkingContent ToolApprovalRequest ToolApprovalResult
  ToolPolicy ToolResultContent ToolUseContent UserContext WorkspaceInfo
`
  .trim()
  .split(/\s+/u);

const TYPES = [
  `import { type ${NAMES.join(', type ')} } from "@cline/core"`,
  'import { Llms } from "@cline/core"',
  ...NAMES.map((name, index) => `export let v${index}: ${name}`),
  ...['ModelInfo', 'ProviderInfo', 'ApiHandler'].map((name) => `export let l${name}: Llms.${name}`),
  'export const registers: (collection: Llms.ModelCollection) => void = Llms.registerProvider',
].join('\n');

it('the plugins that `hooks new` writes fit our declarations, and every type of Cline’s is there', () => {
  const modules = PLUGIN_HOOK_NAMES.map((hook) => [
    `${hook}.ts`,
    renderPluginFile('my-plugin', hook, 'ts'),
  ]);
  expect(problemsIn({ ...Object.fromEntries(modules), 'types.ts': TYPES })).toEqual([]);
});
