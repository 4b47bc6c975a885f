import { dropUndefined } from '../base/defined.ts';
import { isRecord } from '../base/json.ts';
import type { FiredEvent, Moment } from '../hooks/facts.ts';
import { findFirstText, readTime } from './payload-envelope.ts';
import {
  EVENT_READERS,
  type CallWords,
  type ReadableEvent,
  type ResponseText,
  readResponseText,
} from './payload-events.ts';
import { type PayloadOwner, PayloadReader } from './payload-reader.ts';

export type PayloadFields = Readonly<Record<string, unknown>>;

/** What all payloads of one agent have in common. */
export interface AgentPayloads extends CallWords {
  readonly owner: PayloadOwner;
  /** Who serves its models, for `model`. */
  readonly provider: string;
  /** Claude's words for its permission modes; a mode that is not here stays as it is. */
  readonly modes?: Readonly<Record<string, string>>;
}

/**
 * Reads a payload whose fields have Claude's names, as most agents have adopted them. A field with an
 * unknown choice counts as absent, because a newer version of the agent may have added it.
 */
export function readAgentPayload(
  name: ReadableEvent,
  fields: PayloadFields,
  payloads: AgentPayloads,
): FiredEvent {
  const reader = new PayloadReader(dropUnknownChoices(name, fields), payloads.owner);
  return { ...EVENT_READERS[name](reader, payloads), ...readAgentMoment(fields, payloads) };
}

/** Reads what every event carries; what has another type than expected counts as absent. */
export function readAgentMoment(
  fields: PayloadFields,
  { provider, modes = {} }: AgentPayloads,
): Partial<Moment> {
  const find = (key: string): string | undefined => findFirstText(fields, [key]) ?? undefined;
  const [mode, model, sessionId, agentId] = [
    'permission_mode',
    'model',
    'session_id',
    'agent_id',
  ].map(find);
  return dropUndefined({
    sessionId,
    transcriptPath: find('transcript_path'),
    cwd: find('cwd'),
    promptId: find('prompt_id'),
    at: readTime(fields['timestamp']) ?? undefined,
    permissionMode: mode === undefined ? undefined : (modes[mode] ?? mode),
    model: model === undefined ? undefined : { provider, id: model },
    agent:
      agentId === undefined
        ? undefined
        : { id: agentId, parentId: sessionId ?? 'main', type: find('agent_type') ?? null },
  });
}

const CHOICES: Readonly<
  Partial<Record<ReadableEvent, { readonly key: string; readonly values: readonly string[] }>>
> = {
  SessionStart: { key: 'source', values: ['startup', 'resume', 'clear', 'compact', 'fork'] },
  PreCompact: { key: 'trigger', values: ['manual', 'auto'] },
  PostCompact: { key: 'trigger', values: ['manual', 'auto'] },
  UserPromptExpansion: { key: 'expansion_type', values: ['slash_command', 'mcp_prompt'] },
  InstructionsLoaded: { key: 'memory_type', values: ['User', 'Project', 'Local', 'Managed'] },
};

function dropUnknownChoices(name: ReadableEvent, fields: PayloadFields): PayloadFields {
  const choice = CHOICES[name];
  if (choice === undefined) return fields;
  const value = fields[choice.key];
  if (typeof value === 'string' && choice.values.includes(value)) return fields;
  return { ...fields, [choice.key]: undefined };
}

/** Reads `{ llmContent, returnDisplay, error }`, the response of Gemini CLI and what descends from it. */
export function readGeminiResponse(response: unknown): ResponseText {
  if (!isRecord(response)) return { text: readResponseText(response) };
  const { llmContent, returnDisplay, error } = response;
  const text = readParts(llmContent) ?? readParts(returnDisplay) ?? readResponseText(response);
  const message = isRecord(error) ? error['message'] : error;
  if (message === undefined || message === null) return { text };
  return { text, error: typeof message === 'string' ? message : text };
}

/** Reads the text of one part or a list of parts, each a text or `{ text }`. */
function readParts(parts: unknown): string | null {
  if (typeof parts === 'string') return parts;
  if (isRecord(parts)) return typeof parts['text'] === 'string' ? parts['text'] : null;
  if (!Array.isArray(parts)) return null;
  const texts = parts.map(readParts).filter((text) => text !== null);
  return texts.length === 0 ? null : texts.join('\n');
}
