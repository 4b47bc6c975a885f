import { formatTime } from '../base/clock.ts';
import { isRecord } from '../base/json.ts';
import type { HooklineEvent } from './cloud-event.ts';

/** An event in the form that `@principal-ai/agent-monitoring` stores: `data` is what its processor of the provider reads. */
export interface MonitoringEvent {
  readonly provider: string;
  readonly timestamp: number;
  readonly eventType: string;
  readonly sessionId: string;
  readonly workingDirectory: string;
  readonly data: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

const PROVIDERS = new Set(['claude', 'cline', 'droid', 'opencode']);

/** Converts an event for that package; null for an agent or a payload that it has no processor for. */
export function toMonitoringEvent(event: HooklineEvent): MonitoringEvent | null {
  const { agent, data } = event;
  if (!PROVIDERS.has(agent) || !isRecord(data)) return null;
  return {
    provider: agent,
    timestamp: Date.parse(event.time),
    eventType: event.event ?? event.foreignevent ?? 'unknown',
    sessionId: event.sessionid ?? 'unknown',
    workingDirectory: event.workspace ?? '',
    data: agent === 'cline' ? toClinePayload(event, data) : data,
  };
}

/** The events that its processor knows, and the field of each. */
const SECTIONS: Readonly<Record<string, string>> = {
  TaskStart: 'taskStart',
  TaskResume: 'taskResume',
  TaskCancel: 'taskCancel',
  TaskComplete: 'taskComplete',
  PreToolUse: 'preToolUse',
  PostToolUse: 'postToolUse',
  UserPromptSubmit: 'userPromptSubmit',
  PreCompact: 'preCompact',
};

/**
 * Its processor of Cline reads names that Cline itself does not write: `tool` for `toolName`, `durationMs`
 * for `executionTimeMs`, `task` for `taskMetadata.initialTask`, a time as ISO text. They are added; payloads
 * of Cline's SDK and in Claude's format get the field of their event.
 */
function toClinePayload(event: HooklineEvent, data: Fields): Fields {
  const name = findName(event, data);
  const section = SECTIONS[name];
  const { workspace, sessionid } = event;
  return {
    // By this field the processor tells an event of Cline.
    clineVersion: 'unknown',
    ...data,
    hookName: name,
    timestamp: formatTime(Date.parse(event.time)),
    taskId: data['taskId'] ?? sessionid ?? 'unknown',
    workspaceRoots: Array.isArray(data['workspaceRoots'])
      ? data['workspaceRoots']
      : [workspace ?? ''],
    ...(section === undefined ? {} : { [section]: completeSection(event, data, name) }),
  };
}

function findName({ event, foreignevent }: HooklineEvent, { hookName }: Fields): string {
  if (typeof hookName === 'string' && Object.hasOwn(SECTIONS, hookName)) return hookName;
  return event ?? foreignevent ?? 'unknown';
}

function completeSection(event: HooklineEvent, data: Fields, name: string): Fields {
  const found = data[SECTIONS[name] ?? ''];
  const section = isRecord(found) ? found : {};
  if (name !== 'PreToolUse' && name !== 'PostToolUse') return completeTask(section, data);
  const { parameters, toolName, executionTimeMs } = section;
  return {
    success: true,
    result: '',
    ...section,
    // In Claude's words, because its own table lacks some of Cline's tools.
    tool: event.tool ?? section['tool'] ?? toolName,
    parameters: isRecord(parameters) ? parameters : createParameters(event, data),
    durationMs: section['durationMs'] ?? executionTimeMs,
  };
}

function completeTask(section: Fields, data: Fields): Fields {
  const metadata = isRecord(section['taskMetadata']) ? section['taskMetadata'] : {};
  const task = section['task'] ?? metadata['initialTask'] ?? data['prompt'];
  return { prompt: data['prompt'], ...section, ...(task === undefined ? {} : { task }) };
}

function createParameters({ paths }: HooklineEvent, data: Fields): Fields {
  const call = isRecord(data['tool_call']) ? data['tool_call']['input'] : data['tool_input'];
  const [path] = paths;
  return { ...(isRecord(call) ? call : {}), ...(path === undefined ? {} : { path }) };
}
