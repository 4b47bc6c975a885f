import { describe, expect, it } from 'vitest';
import { KEY_VARIABLES, PROVIDER_NAMES } from '../../src/agent/models/providers.ts';
import { ENDINGS } from '../../src/agent/runtime-event.ts';
import { TOOLSETS } from '../../src/agent/tools/toolsets.ts';
import { ERROR_CODES } from '../../src/base/errors.ts';
import { EXIT } from '../../src/cli/exit-codes.ts';
import { toVerdictJson } from '../../src/cli/output/format-verdict.ts';
import { FILE_HOOKS } from '../../src/dialects/cline-files/events.ts';
import { SETTINGS } from '../../src/host/settings.ts';
import { EFFECTS } from '../../src/hooks/decision.ts';
import { EVENTS } from '../../src/hooks/events.ts';
import { mergeOutcomes } from '../../src/hooks/merge.ts';
import { PERMISSION_MODES } from '../../src/permissions/permissions.ts';
import { PROVIDER_KEYS } from '../../src/process/environment.ts';

/**
 * Words that hooks, scripts and hosts rely on. A word may be added; one that is here may neither
 * vanish nor change its meaning.
 */
describe('the names of the contract', () => {
  it('are these events', () => {
    expect(Object.keys(EVENTS)).toEqual([
      'SessionStart',
      'Setup',
      'SessionEnd',
      'TaskStart',
      'TaskResume',
      'UserPromptSubmit',
      'UserPromptExpansion',
      'RunStart',
      'ModelRequest',
      'ModelResponse',
      'PreToolUse',
      'PermissionRequest',
      'PermissionDenied',
      'PostToolUse',
      'PostToolUseFailure',
      'PostToolBatch',
      'PreCompact',
      'PostCompact',
      'SubagentStart',
      'SubagentStop',
      'Stop',
      'TaskComplete',
      'RunEnd',
      'Notification',
      'MessageDisplay',
      'PreModelSwitch',
      'PostModelSwitch',
      'TaskCreated',
      'TaskCompleted',
      'TeammateIdle',
      'Elicitation',
      'ElicitationResult',
      'ConfigChange',
      'InstructionsLoaded',
      'CwdChanged',
      'DirectoryAdded',
      'FileChanged',
      'WorktreeCreate',
      'WorktreeRemove',
    ]);
  });

  it('are these error codes', () => {
    expect(Object.keys(ERROR_CODES)).toEqual([
      'CONFIG_UNREADABLE',
      'CONFIG_INVALID',
      'CONFIG_UNWRITABLE',
      'GUARD_MISSING',
      'EVENT_UNKNOWN',
      'HOOK_UNKNOWN',
      'HOOK_EXISTS',
      'MATCHER_INVALID',
      'PAYLOAD_INVALID',
      'CASE_INVALID',
      'TRUST_INSIDE_AGENT',
      'TRUST_NEEDS_TERMINAL',
      'TRUST_UNIT_TOO_LARGE',
      'TRUST_RECORD_INVALID',
      'LOCK_INVALID',
      'MODEL_KEY_MISSING',
      'MODEL_UNKNOWN',
      'MODEL_SCRIPT_INVALID',
      'MCP_FAILED',
      'MODEL_FAILED',
      'MODEL_REFUSED',
      'OUTPUT_UNWRITABLE',
      'PACKAGE_MISSING',
      'PLUGIN_ENDED',
      'PLUGIN_EXIT',
      'PLUGIN_INVALID',
      'PLUGIN_INSTALL_FAILED',
      'PLUGIN_LATE',
      'PLUGIN_UNKNOWN',
      'RUN_FAILED',
      'SANDBOX_UNAVAILABLE',
      'SDK_UNSUPPORTED',
      'SESSION_UNKNOWN',
      'SESSION_BUSY',
      'SESSION_UNREACHABLE',
      'SESSION_UNWRITABLE',
      'WORKTREE_FAILED',
      'USAGE_INVALID',
    ]);
  });

  it('are these exit codes', () => {
    expect(EXIT).toEqual({
      fine: 0,
      refused: 1,
      usage: 2,
      hookFailed: 3,
      bug: 70,
      interrupted: 130,
    });
  });

  it('are these ways in which a run ends', () => {
    expect(ENDINGS).toEqual([
      'done',
      'refused',
      'stopped_by_hook',
      'tool_deferred',
      'max_turns',
      'aborted',
      'model_failed',
      'failed',
      'loop',
    ]);
  });

  it('are these permission modes and tool sets', () => {
    expect(PERMISSION_MODES).toEqual([
      'default',
      'acceptEdits',
      'plan',
      'bypassPermissions',
      'dontAsk',
    ]);
    expect(TOOLSETS).toEqual(['claude', 'cline-classic', 'cline-sdk']);
  });

  it('are these providers of models', () => {
    expect(PROVIDER_NAMES).toEqual([
      'anthropic',
      'openai',
      'gemini',
      'openai-compatible',
      'openrouter',
      'ollama',
      'scripted',
    ]);
  });

  it('are these names of keys, each of which is kept from workspace hooks', () => {
    expect([...KEY_VARIABLES].toSorted()).toEqual([...PROVIDER_KEYS].toSorted());
  });

  it('are these settings, with these environment variables', () => {
    const variables = Object.entries(SETTINGS).map(([name, { variable }]) => [
      name,
      variable ?? null,
    ]);
    expect(Object.fromEntries(variables)).toEqual({
      'hooks.enabled': 'HOOKLINE_HOOKS',
      'hooks.disabled': null,
      'hooks.timeoutMs': 'HOOK_EXECUTION_TIMEOUT_MS',
      'hooks.onFailure': null,
      'hooks.sandbox': null,
      'hooks.overrides': null,
      'cline.cancel': null,
      'cline.maxContextChars': 'MAX_CONTEXT_MODIFICATION_SIZE',
      'model.provider': 'HOOKLINE_PROVIDER',
      'model.id': 'HOOKLINE_MODEL',
      'model.baseUrl': 'HOOKLINE_BASE_URL',
      'model.key': null,
      'model.effort': 'CLAUDE_CODE_EFFORT_LEVEL',
      'agent.maxTurns': null,
      'agent.stopCap': 'CLAUDE_CODE_STOP_HOOK_BLOCK_CAP',
      'agent.compactAt': null,
      'chat.idleMs': null,
      'plugins.isolation': 'HOOKLINE_PLUGIN_ISOLATION',
      'sandbox.mode': 'HOOKLINE_SANDBOX',
      'sandbox.write': null,
      'sandbox.network': null,
      'trust.requireTerminal': null,
      'bash.maxOutputBytes': null,
      'web.allowPrivate': 'HOOKLINE_WEB_ALLOW_PRIVATE',
      'env.pass': null,
      'trace.enabled': null,
      'trace.maxFileBytes': null,
      'trace.maxFiles': null,
    });
  });

  it('are these names of Cline hook files, with these names of the SDK', () => {
    const names = Object.entries(FILE_HOOKS).map(([name, { sdkName }]) => [name, sdkName]);
    expect(Object.fromEntries(names)).toEqual({
      TaskStart: 'agent_start',
      TaskResume: 'agent_resume',
      TaskCancel: 'agent_abort',
      TaskComplete: 'agent_end',
      TaskError: 'agent_error',
      PreToolUse: 'tool_call',
      PostToolUse: 'tool_result',
      UserPromptSubmit: 'prompt_submit',
      Notification: 'notification',
      PreCompact: 'pre_compact',
      SessionShutdown: 'session_shutdown',
    });
  });

  it('are these effects, from mildest to strictest', () => {
    expect(EFFECTS).toEqual(['pass', 'allow', 'ask', 'defer', 'deny']);
  });

  it('are these fields of a verdict, in this order, and their empty values', () => {
    const rules = { event: 'Stop', stop: 'ignored', changes: {}, rewrittenInput: null } as const;
    const verdict = toVerdictJson(mergeOutcomes(rules, [], []));
    expect(JSON.stringify(verdict)).toBe(
      JSON.stringify({
        event: 'Stop',
        effect: 'pass',
        stop: null,
        reasons: [],
        input: null,
        output: null,
        changes: {},
        context: [],
        messages: [],
        outcomes: [],
        skipped: [],
        slowest: null,
      }),
    );
  });
});
