import { readdirSync, readFileSync } from 'node:fs';
import { parseSync } from 'rolldown/utils';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../../src/base/version.ts';
import * as hooks from '../../src/hooks.ts';
import * as main from '../../src/index.ts';
import * as testing from '../../src/testing.ts';

/** The types that an entry exports; they leave no trace in the running program. */
function typeNames(file: string): string[] {
  const { program } = parseSync(file, readFileSync(file, 'utf8'));
  return program.body
    .flatMap((statement) =>
      statement.type === 'ExportNamedDeclaration'
        ? statement.specifiers.filter(
            ({ exportKind }) => statement.exportKind === 'type' || exportKind === 'type',
          )
        : [],
    )
    .map(({ exported }) => (exported.type === 'Identifier' ? exported.name : exported.value))
    .toSorted();
}

describe('what the package exports', () => {
  it('is a written list in `hookline`', () => {
    expect(Object.keys(main).toSorted()).toEqual([
      'ClineCore',
      'EVENTS',
      'EVENT_NAMES',
      'HooklineError',
      'SessionNotFoundError',
      'VERSION',
      'createHost',
      'createTool',
      'estimateTokens',
      'isHooklineError',
      'isRefusal',
      'isSessionNotFoundError',
      'noopBasicLogger',
      'scripted',
      'stripUtf8Bom',
    ]);
    expect(typeNames('src/index.ts')).toEqual([
      'AgentAfterToolResult',
      'AgentBeforeModelResult',
      'AgentBeforeToolResult',
      'AgentEvent',
      'AgentExtension',
      'AgentExtensionApi',
      'AgentExtensionAutomationEventType',
      'AgentExtensionCapability',
      'AgentExtensionCommand',
      'AgentExtensionCommandResult',
      'AgentExtensionContext',
      'AgentExtensionMcpServer',
      'AgentExtensionMessageBuilder',
      'AgentExtensionProvider',
      'AgentExtensionRule',
      'AgentHooks',
      'AgentMessage',
      'AgentMessagePart',
      'AgentModelRequest',
      'AgentOptions',
      'AgentPlugin',
      'AgentPluginCommand',
      'AgentResult',
      'AgentRunResult',
      'AgentRunStartResult',
      'AgentRuntimeEvent',
      'AgentRuntimeHooks',
      'AgentRuntimeStateSnapshot',
      'AgentStopControl',
      'AgentTool',
      'AgentToolCall',
      'AgentToolContext',
      'AgentToolDefinition',
      'AgentToolResult',
      'AgentUsage',
      'Answer',
      'Approval',
      'ApprovalRequest',
      'AutomationEventEnvelope',
      'BasicLogger',
      'ClientContext',
      'ClineCoreOptions',
      'ClineCoreStartInput',
      'ContentBlock',
      'CoreSessionConfig',
      'CoreSessionEvent',
      'Decision',
      'DispatchRecord',
      'Effect',
      'ElicitationAnswer',
      'ElicitationRequest',
      'ErrorCode',
      'EventName',
      'ExtensionContext',
      'Failure',
      'FiredEvent',
      'Handler',
      'HandlerInput',
      'HandlerProgress',
      'HandlerSource',
      'HookEngine',
      'HookEvent',
      'HookSearch',
      'Host',
      'HostCapabilities',
      'HostOptions',
      'LateOutcome',
      'Message',
      'Model',
      'ModelChunk',
      'ModelFailure',
      'ModelRequest',
      'ModelSwitch',
      'ModelWish',
      'Moment',
      'Outcome',
      'PendingPrompt',
      'Person',
      'PluginIssue',
      'PluginManifest',
      'PluginSetupContext',
      'PluginStatus',
      'ProviderMessage',
      'RunResult',
      'RuntimeEvent',
      'ScriptTurn',
      'SendInput',
      'Session',
      'SessionManifest',
      'SessionRecord',
      'SessionState',
      'SessionStatus',
      'StartRequest',
      'StartSessionResult',
      'Started',
      'Stop',
      'ToolApprovalRequest',
      'ToolApprovalResult',
      'ToolCallRecord',
      'ToolPolicy',
      'ToolResultContent',
      'Usage',
      'UserContext',
      'Verdict',
      'WorkspaceInfo',
    ]);
  });

  it('is a written list in `hookline/hooks`', () => {
    expect(Object.keys(hooks).toSorted()).toEqual([
      'CombinedHookRunner',
      'EVENTS',
      'EVENT_NAMES',
      'HookFactory',
      'HookRunner',
      'HooklineError',
      'NoOpHookRunner',
      'StdioHookRunner',
      'claudeHooks',
      'clineFiles',
      'compileMatcher',
      'createHookEngine',
      'createHost',
      'createStopGuard',
      'isHooklineError',
      'isRefusal',
      'mergeOutcomes',
    ]);
    expect(typeNames('src/hooks.ts')).toEqual([
      'Answer',
      'Decision',
      'DispatchRecord',
      'Effect',
      'EmbeddedEngineOptions',
      'ErrorCode',
      'EventName',
      'Failure',
      'FileHookData',
      'FileHookName',
      'FiredEvent',
      'Handler',
      'HandlerInput',
      'HandlerProgress',
      'HandlerSource',
      'HookEngine',
      'HookEvent',
      'HookFactoryOptions',
      'HookOutput',
      'HookSearch',
      'Host',
      'HostOptions',
      'LateOutcome',
      'Matcher',
      'Moment',
      'Outcome',
      'RunHookOptions',
      'StdioHookOptions',
      'Stop',
      'StopGuard',
      'StopRuling',
      'Verdict',
    ]);
  });

  it('is a written list in `hookline/testing`', () => {
    expect(Object.keys(testing).toSorted()).toEqual([
      'HooklineError',
      'expectDecision',
      'findCases',
      'fireHook',
      'formatDifference',
      'isHooklineError',
      'readCase',
      'recordCase',
      'runCase',
      'sampleEvent',
      'scripted',
    ]);
    expect(typeNames('src/testing.ts')).toEqual([
      'CaseResult',
      'Decision',
      'Difference',
      'Effect',
      'ErrorCode',
      'EventDescription',
      'ExpectedDecision',
      'FireDescription',
      'FireHookOptions',
      'HookCase',
      'Outcome',
      'PayloadDescription',
      'RecordRequest',
      'RecordedCase',
      'RunCaseOptions',
      'ScriptTurn',
      'Verdict',
    ]);
  });

  it('comes from entries that have a pin here', () => {
    const entries = readdirSync('src').filter((name) => name.endsWith('.ts'));
    const exported = entries.filter((name) => name !== 'typescript-loader.ts');
    expect(exported.toSorted()).toEqual(['hooks.ts', 'index.ts', 'testing.ts']);
  });

  it('lists every name by itself', () => {
    for (const file of ['src/index.ts', 'src/hooks.ts', 'src/testing.ts']) {
      expect(readFileSync(file, 'utf8')).not.toMatch(/export \*/);
    }
  });
});

describe('the version', () => {
  it('is the one in package.json', () => {
    expect(VERSION).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version);
  });
});
