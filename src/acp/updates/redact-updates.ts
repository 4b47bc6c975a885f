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
  const texts = new Set<string>();
  const collect = (text: string): string => {
    texts.add(text);
    return text;
  };
  for (const update of updates) mapTexts(update, collect);
  const found = [...texts];
  const results = await redact(found);
  const redacted = new Map(found.map((text, index) => [text, results[index] ?? '']));
  return updates.map((update) => mapTexts(update, (text) => redacted.get(text) ?? ''));
}

type Change = (text: string) => string;

/** Maps the texts that a user reads, not ids, paths and images. */
function mapTexts(update: acp.SessionUpdate, change: Change): acp.SessionUpdate {
  switch (update.sessionUpdate) {
    case 'agent_message_chunk':
    case 'agent_thought_chunk':
    case 'user_message_chunk':
      return { ...update, content: mapBlock(update.content, change) };
    case 'tool_call':
      return { ...update, title: change(update.title), ...mapCallTexts(update, change) };
    case 'tool_call_update': {
      const { title } = update;
      const titleField = typeof title === 'string' ? { title: change(title) } : {};
      return { ...update, ...titleField, ...mapCallTexts(update, change) };
    }
    case 'plan':
      return { ...update, entries: update.entries.map((entry) => mapEntry(entry, change)) };
    case 'notice':
      return { ...update, title: change(update.title) };
    case 'session_info_update': {
      const { title } = update;
      return typeof title === 'string' ? { ...update, title: change(title) } : update;
    }
    default:
      return update;
  }
}

type CallTexts = Pick<acp.ToolCallUpdate, 'content' | 'rawInput' | 'rawOutput'>;

function mapCallTexts({ content, rawInput, rawOutput }: CallTexts, change: Change) {
  return {
    ...(Array.isArray(content) ? { content: content.map((each) => mapContent(each, change)) } : {}),
    ...(rawInput === undefined ? {} : { rawInput: mapData(rawInput, change) }),
    ...(rawOutput === undefined ? {} : { rawOutput: mapData(rawOutput, change) }),
  };
}

function mapContent(content: acp.ToolCallContent, change: Change): acp.ToolCallContent {
  if (content.type !== 'content') return content;
  return { ...content, content: mapBlock(content.content, change) };
}

function mapBlock(block: acp.ContentBlock, change: Change): acp.ContentBlock {
  return block.type === 'text' ? { ...block, text: change(block.text) } : block;
}

function mapEntry(entry: acp.PlanEntry, change: Change): acp.PlanEntry {
  return { ...entry, content: change(entry.content) };
}

function mapData(data: unknown, change: Change): unknown {
  if (typeof data === 'string') return change(data);
  if (Array.isArray(data)) return data.map((each) => mapData(each, change));
  if (!isRecord(data)) return data;
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, mapData(value, change)]),
  );
}
