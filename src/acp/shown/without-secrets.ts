import type * as acp from '@agentclientprotocol/sdk';
import { isRecord } from '../../base/json.ts';

/** Plain data as it may be shown. */
export type Clean = <Value extends object>(value: Value) => Promise<Value>;

/**
 * Updates as they may be shown. Changes of files stay as they are: one that never happened would be
 * shown else, and the file itself is open beside it.
 */
export async function withoutSecretsIn(
  updates: readonly acp.SessionUpdate[],
  clean: Clean,
): Promise<readonly acp.SessionUpdate[]> {
  const texts = new Set<string>();
  const collect = (text: string): string => {
    texts.add(text);
    return text;
  };
  for (const update of updates) changeTexts(update, collect);
  const found = [...texts];
  const cleaned = await clean(found);
  const shown = new Map(found.map((text, index) => [text, cleaned[index] ?? '']));
  return updates.map((update) => changeTexts(update, (text) => shown.get(text) ?? ''));
}

type Change = (text: string) => string;

/** Texts that a person reads; ids, paths and pictures are none. */
function changeTexts(update: acp.SessionUpdate, change: Change): acp.SessionUpdate {
  switch (update.sessionUpdate) {
    case 'agent_message_chunk':
    case 'agent_thought_chunk':
    case 'user_message_chunk':
      return { ...update, content: changeBlock(update.content, change) };
    case 'tool_call':
      return { ...update, title: change(update.title), ...changeCall(update, change) };
    case 'tool_call_update': {
      const { title } = update;
      const named = typeof title === 'string' ? { title: change(title) } : {};
      return { ...update, ...named, ...changeCall(update, change) };
    }
    case 'plan':
      return { ...update, entries: update.entries.map((entry) => changeEntry(entry, change)) };
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

function changeCall({ content, rawInput, rawOutput }: CallTexts, change: Change) {
  return {
    ...(Array.isArray(content)
      ? { content: content.map((each) => changeContent(each, change)) }
      : {}),
    ...(rawInput === undefined ? {} : { rawInput: changeData(rawInput, change) }),
    ...(rawOutput === undefined ? {} : { rawOutput: changeData(rawOutput, change) }),
  };
}

function changeContent(content: acp.ToolCallContent, change: Change): acp.ToolCallContent {
  if (content.type !== 'content') return content;
  return { ...content, content: changeBlock(content.content, change) };
}

function changeBlock(block: acp.ContentBlock, change: Change): acp.ContentBlock {
  return block.type === 'text' ? { ...block, text: change(block.text) } : block;
}

function changeEntry(entry: acp.PlanEntry, change: Change): acp.PlanEntry {
  return { ...entry, content: change(entry.content) };
}

function changeData(data: unknown, change: Change): unknown {
  if (typeof data === 'string') return change(data);
  if (Array.isArray(data)) return data.map((each) => changeData(each, change));
  if (!isRecord(data)) return data;
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, changeData(value, change)]),
  );
}
