import { isRecord } from '../../src/base/json.ts';
import type { HookOutput } from '../../src/dialects/dialect.ts';

/** What an agent makes of the output of a hook. */
export interface AgentReading {
  /** `failed` means that the agent reports the hook as broken and goes on. */
  readonly effect: 'pass' | 'allow' | 'ask' | 'deny' | 'failed';
  readonly reason?: unknown;
  /** Whether the run ends. */
  readonly ends?: true;
  readonly input?: unknown;
  readonly context?: unknown;
  readonly output?: unknown;
  readonly message?: unknown;
}

export type AgentReader = (name: string, output: HookOutput) => AgentReading;

type Json = Readonly<Record<string, unknown>>;

const FAILED: AgentReading = { effect: 'failed' };

/**
 * How each agent reads answers, written down from its source, its documentation or runs of the real program,
 * and independent of the code that writes them.
 */
export const AGENT_READERS: Readonly<Record<string, AgentReader>> = {
  codex: readAsCodex,
  gemini: readAsGemini,
  copilot: readAsCopilot,
  qwen: readAsQwen,
  cursor: readAsCursor,
  droid: readAsDroid,
  opencode: readAsOpencode,
};

function parse(text: string): Json | null {
  if (!text.trimStart().startsWith('{')) return null;
  const value: unknown = JSON.parse(text);
  return isRecord(value) ? value : null;
}

function hasOnly(json: Json, keys: readonly string[]): boolean {
  return Object.keys(json).every((key) => keys.includes(key));
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

function compact(reading: Readonly<Record<string, unknown>> & Pick<AgentReading, 'effect'>) {
  const entries = Object.entries(reading).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(entries), effect: reading.effect };
}

const CODEX_TOP = ['continue', 'stopReason', 'suppressOutput', 'systemMessage'];
const CODEX_BLOCKS = ['PostToolUse', 'UserPromptSubmit', 'Stop', 'SubagentStop'];
const CODEX_CONTEXT = ['PreToolUse', 'PostToolUse', 'SessionStart', 'SubagentStart'];

/** One unknown key makes the whole answer invalid. */
function readAsCodex(name: string, { stdout, stderr, exitCode }: HookOutput): AgentReading {
  if (exitCode === 2) return isFilled(stderr) ? { effect: 'deny', reason: stderr } : FAILED;
  if (exitCode !== 0) return FAILED;
  const json = parse(stdout);
  if (json === null) {
    const takesText = ['UserPromptSubmit', 'SessionStart', 'SubagentStart'].includes(name);
    return compact({ effect: 'pass', context: takesText && stdout !== '' ? stdout : undefined });
  }
  const { hookSpecificOutput, systemMessage: message, decision, reason, ...universal } = json;
  const specific = isRecord(hookSpecificOutput) ? hookSpecificOutput : {};
  if (!hasOnly(json, [...CODEX_TOP, 'hookSpecificOutput', 'decision', 'reason'])) return FAILED;
  if (specific['hookEventName'] !== undefined && specific['hookEventName'] !== name) return FAILED;
  if (name === 'PreToolUse') return readCodexCall(specific, message, { ...universal, decision });
  if (name === 'PermissionRequest') return readCodexRequest(specific);
  const context = specific['additionalContext'];
  if (context !== undefined && !CODEX_CONTEXT.includes(name)) return FAILED;
  if (universal['continue'] === false) {
    return name === 'SessionStart'
      ? { effect: 'deny', ends: true, reason: universal['stopReason'] }
      : FAILED;
  }
  if (decision === undefined) return compact({ effect: 'pass', context, message });
  const isBlock = decision === 'block' && isFilled(reason) && CODEX_BLOCKS.includes(name);
  return isBlock ? compact({ effect: 'deny', reason, context, message }) : FAILED;
}

function readCodexCall(specific: Json, message: unknown, rest: Json): AgentReading {
  const known = [
    'hookEventName',
    'permissionDecision',
    'permissionDecisionReason',
    'updatedInput',
    'additionalContext',
  ];
  if (!hasOnly(specific, known) || Object.values(rest).some((value) => value !== undefined)) {
    return FAILED;
  }
  const { permissionDecision, permissionDecisionReason: reason, updatedInput: input } = specific;
  const context = specific['additionalContext'];
  if (permissionDecision === 'deny') {
    const isAlone = input === undefined && context === undefined && message === undefined;
    return isFilled(reason) && isAlone ? { effect: 'deny', reason } : FAILED;
  }
  if (permissionDecision === 'allow') {
    const isCommand = isRecord(input) && hasOnly(input, ['command']);
    return isCommand ? compact({ effect: 'allow', input, context }) : FAILED;
  }
  if (permissionDecision !== undefined || input !== undefined) return FAILED;
  return compact({ effect: 'pass', context, message });
}

function readCodexRequest({ decision, hookEventName: _name, ...rest }: Json): AgentReading {
  if (decision === undefined) return { effect: 'pass' };
  if (!isRecord(decision) || Object.keys(rest).length > 0) return FAILED;
  if (!hasOnly(decision, ['behavior', 'message'])) return FAILED;
  const isAllow = decision['behavior'] === 'allow';
  return compact({ effect: isAllow ? 'allow' : 'deny', reason: decision['message'] });
}

const GEMINI_DECIDES = [
  'BeforeTool',
  'AfterTool',
  'BeforeAgent',
  'AfterAgent',
  'BeforeModel',
  'AfterModel',
];
const GEMINI_CONTEXT = ['AfterTool', 'BeforeAgent', 'SessionStart'];

/** Only exit code 1 is a warning; Claude's permissionDecision is ignored. */
function readAsGemini(name: string, { stdout, stderr, exitCode }: HookOutput): AgentReading {
  if (exitCode === 1) return FAILED;
  if (exitCode !== 0) return { effect: 'deny', reason: stderr };
  const json = parse(stdout === '' ? stderr : stdout) ?? {};
  const specific = isRecord(json['hookSpecificOutput']) ? json['hookSpecificOutput'] : {};
  const { decision, reason, systemMessage: message } = json;
  const decides = GEMINI_DECIDES.includes(name);
  const context = GEMINI_CONTEXT.includes(name) ? specific['additionalContext'] : undefined;
  const ends = decides && json['continue'] === false ? true : undefined;
  if (decides && (decision === 'deny' || decision === 'block')) {
    return compact({ effect: 'deny', reason, ends, context, message });
  }
  const effect = decides && decision === 'ask' ? 'ask' : 'pass';
  const input = name === 'BeforeTool' ? specific['tool_input'] : undefined;
  return compact({ effect, ends, input, context, message });
}

/** Claude's format under Claude's names of events, its own under its own. */
function readAsCopilot(name: string, { stdout, exitCode }: HookOutput): AgentReading {
  const isOwn = name.startsWith(name.charAt(0).toLowerCase());
  const event = isOwn ? name : `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
  const isGate = event === 'preToolUse' || event === 'permissionRequest';
  if (exitCode !== 0) return isGate ? { effect: 'deny', reason: 'hook exited' } : FAILED;
  const json = parse(stdout) ?? {};
  const specific = isRecord(json['hookSpecificOutput']) ? json['hookSpecificOutput'] : {};
  const fields = isOwn ? json : specific;
  switch (event) {
    case 'preToolUse': {
      const { permissionDecision, permissionDecisionReason: reason } = fields;
      const effect = toEffect(permissionDecision);
      const input = isOwn && effect === 'allow' ? fields['modifiedArgs'] : undefined;
      return compact({ effect, reason, input });
    }
    case 'permissionRequest':
      return compact({ effect: toEffect(json['behavior']), reason: json['message'] });
    case 'postToolUse':
    case 'postToolUseFailure': {
      const result = json['modifiedResult'];
      const output = isRecord(result) ? result['textResultForLlm'] : undefined;
      return compact({ effect: 'pass', context: fields['additionalContext'], output });
    }
    case 'agentStop':
    case 'stop':
    case 'subagentStop': {
      const isBlock = json['decision'] === 'block';
      return compact({ effect: isBlock ? 'deny' : 'pass', reason: json['reason'] });
    }
    case 'notification':
      return compact({ effect: 'pass', context: fields['additionalContext'] });
    default:
      return { effect: 'pass' };
  }
}

function toEffect(value: unknown): AgentReading['effect'] {
  return value === 'allow' || value === 'ask' || value === 'deny' ? value : 'pass';
}

const CLAUDE_BLOCKS = [
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'UserPromptSubmit',
  'UserPromptExpansion',
  'Stop',
  'SubagentStop',
];

/** Claude's answers; a rewritten input has no effect. */
function readAsQwen(name: string, { stdout, stderr, exitCode }: HookOutput): AgentReading {
  const canBlock = name === 'PreToolUse' || CLAUDE_BLOCKS.includes(name);
  if (exitCode === 2) return canBlock ? { effect: 'deny', reason: stderr } : FAILED;
  if (exitCode !== 0) return FAILED;
  return readClaudeFields(name, parse(stdout) ?? {}, false);
}

function readClaudeFields(name: string, json: Json, appliesInput: boolean): AgentReading {
  const specific = isRecord(json['hookSpecificOutput']) ? json['hookSpecificOutput'] : {};
  const context = specific['additionalContext'];
  const message = json['systemMessage'];
  const ends = json['continue'] === false ? true : undefined;
  if (name === 'PreToolUse') {
    const effect = toEffect(specific['permissionDecision']);
    const reason = specific['permissionDecisionReason'];
    const input = appliesInput && effect === 'allow' ? specific['updatedInput'] : undefined;
    return compact({ effect, reason, ends, input, context, message });
  }
  const { decision } = specific;
  if (name === 'PermissionRequest' && isRecord(decision)) {
    return compact({ effect: toEffect(decision['behavior']), reason: decision['message'] });
  }
  const isBlock = json['decision'] === 'block' && CLAUDE_BLOCKS.includes(name);
  const effect = isBlock ? 'deny' : 'pass';
  return compact({ effect, reason: isBlock ? json['reason'] : undefined, ends, context, message });
}

/** JSON counts at any exit code; an earlier allow wins over a denial in JSON, exit code 2 over all. */
function readAsDroid(name: string, { stdout, stderr, exitCode }: HookOutput): AgentReading {
  const reading = readClaudeFields(name, parse(stdout) ?? {}, true);
  const blocksByCode = ['PreToolUse', 'UserPromptSubmit', 'PreCompact', 'PostToolUse'];
  if (exitCode === 2 && blocksByCode.includes(name)) {
    return { ...reading, effect: 'deny', reason: stderr.trimEnd() };
  }
  if (exitCode !== 0) return FAILED;
  const needsCode = name === 'PreToolUse' && reading.effect === 'deny';
  return needsCode ? { ...reading, effect: 'pass' } : reading;
}

const CURSOR_GATES = ['preToolUse', 'beforeReadFile', 'beforeTabFileRead', 'subagentStart'];
const CURSOR_QUESTIONS = ['beforeShellExecution', 'beforeMCPExecution'];

function readAsCursor(name: string, { stdout, exitCode }: HookOutput): AgentReading {
  const isGate = CURSOR_GATES.includes(name) || CURSOR_QUESTIONS.includes(name);
  if (exitCode === 2) return { effect: isGate ? 'deny' : 'pass' };
  if (exitCode !== 0) return FAILED;
  const json = parse(stdout) ?? {};
  const { user_message: message, additional_context: context } = json;
  if (isGate) {
    const effect = toEffect(json['permission']);
    // At preToolUse a question is accepted and the tool runs.
    const counts = effect === 'ask' && !CURSOR_QUESTIONS.includes(name) ? 'pass' : effect;
    const input = name === 'preToolUse' ? json['updated_input'] : undefined;
    const reason = counts === 'deny' || counts === 'ask' ? json['agent_message'] : undefined;
    return compact({ effect: counts, reason, input });
  }
  if (name === 'beforeSubmitPrompt' && json['continue'] === false) {
    return compact({ effect: 'deny', reason: message });
  }
  const followUp = json['followup_message'];
  if ((name === 'stop' || name === 'subagentStop') && followUp !== undefined) {
    return { effect: 'deny', reason: followUp };
  }
  const takesContext = name === 'postToolUse' || name === 'sessionStart';
  return compact({
    effect: 'pass',
    context: takesContext ? context : undefined,
    output: name === 'postToolUse' ? json['updated_mcp_tool_output'] : undefined,
    message: name === 'preCompact' ? message : undefined,
  });
}

/** The plugin throws what is denied, and puts the rest into the hook's output. */
function readAsOpencode(name: string, { stdout, exitCode }: HookOutput): AgentReading {
  if (exitCode !== 0) return FAILED;
  const { deny, args, context, output } = parse(stdout) ?? {};
  const throws = ['tool.execute.before', 'chat.message', 'permission.ask'].includes(name);
  if (deny !== undefined && throws) return { effect: 'deny', reason: deny };
  const takesContext =
    name === 'chat.message' ||
    name === 'tool.execute.after' ||
    name === 'experimental.session.compacting';
  return compact({
    effect: 'pass',
    input: name === 'tool.execute.before' ? args : undefined,
    context: takesContext ? context : undefined,
    output: name === 'tool.execute.after' ? output : undefined,
  });
}
