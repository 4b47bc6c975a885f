import type * as acp from '@agentclientprotocol/sdk';
import { isRecord } from '../../base/json.ts';

/** Replaces secrets in plain data. */
export type Redact = <Value extends object>(value: Value) => Promise<Value>;

/**
 * Replaces secrets in updates. Diffs stay as they are: a redacted one would show a change that never
 * happened, and the file itself is open beside it.
 */
export async function redactUpdates(
  updates: readonly acp.SessionUpdate[],
  redact: Redact,
): Promise<readonly acp.SessionUpdate[]> {
  const found: Record<string, string>[] = [];
  const collect: Change = (text, name) => {
    found.push({ [name]: text });
    return text;
  };
  for (const update of updates) mapTexts(update, collect);
  const redacted = (await redact(found)).values();
  return updates.map((update) =>
    mapTexts(update, (_text, name) => redacted.next().value?.[name] ?? ''),
  );
}

/** `name` is the field of the text, which may tell that it is a secret. */
type Change = (text: string, name: string) => string;

/** Maps the texts that a user reads, not ids, paths and images. */
function mapTexts(update: acp.SessionUpdate, change: Change): acp.SessionUpdate {
  switch (update.sessionUpdate) {
    case 'agent_message_chunk':
    case 'agent_thought_chunk':
    case 'user_message_chunk':
      return { ...update, content: mapBlock(update.content, change) };
    case 'tool_call':
      return { ...update, title: change(update.title, 'title'), ...mapCallTexts(update, change) };
    case 'tool_call_update': {
      const { title } = update;
      const titleField = typeof title === 'string' ? { title: change(title, 'title') } : {};
      return { ...update, ...titleField, ...mapCallTexts(update, change) };
    }
    case 'plan':
      return { ...update, entries: update.entries.map((entry) => mapEntry(entry, change)) };
    case 'notice':
      return { ...update, title: change(update.title, 'title') };
    case 'session_info_update': {
      const { title } = update;
      return typeof title === 'string' ? { ...update, title: change(title, 'title') } : update;
    }
    default:
      return update;
  }
}

type CallTexts = Pick<acp.ToolCallUpdate, 'content' | 'rawInput' | 'rawOutput'>;

function mapCallTexts({ content, rawInput, rawOutput }: CallTexts, change: Change) {
  return {
    ...(Array.isArray(content) ? { content: content.map((each) => mapContent(each, change)) } : {}),
    ...(rawInput === undefined ? {} : { rawInput: mapData(rawInput, 'rawInput', change) }),
    ...(rawOutput === undefined ? {} : { rawOutput: mapData(rawOutput, 'rawOutput', change) }),
  };
}

function mapContent(content: acp.ToolCallContent, change: Change): acp.ToolCallContent {
  if (content.type !== 'content') return content;
  return { ...content, content: mapBlock(content.content, change) };
}

function mapBlock(block: acp.ContentBlock, change: Change): acp.ContentBlock {
  return block.type === 'text' ? { ...block, text: change(block.text, 'text') } : block;
}

function mapEntry(entry: acp.PlanEntry, change: Change): acp.PlanEntry {
  return { ...entry, content: change(entry.content, 'content') };
}

function mapData(data: unknown, name: string, change: Change): unknown {
  if (typeof data === 'string') return change(data, name);
  if (Array.isArray(data)) return data.map((each) => mapData(each, name, change));
  if (!isRecord(data)) return data;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, mapData(value, key, change)]),
  );
}
