import { isRecord, getTypeName } from '../../base/json.ts';
import type {
  AssistantBlock,
  AssistantMessage,
  Message,
  UserBlock,
} from '../../sessions/messages.ts';
import type { ModelRequest, ToolSpec } from '../models/model.ts';
import { normalizeMessages } from './normalize-messages.ts';

/** What hooks made of a request to the model, and what of it is no use, in words. */
export interface RequestChanges {
  readonly changed: Partial<ModelRequest>;
  readonly problems: readonly string[];
}

/** Hooks may replace messages and tools, and set options; what they give is looked at before it is used. */
export function parseRequestChanges(given: Readonly<Record<string, unknown>>): RequestChanges {
  const problems: string[] = [];
  const changed = {
    ...parseMessages(given['messages'], problems),
    ...parseTools(given['tools'], problems),
    ...parseOptions(given['options'], problems),
  };
  return { changed, problems: problems.map((each) => `a hook of ModelRequest gave ${each}`) };
}

/** Hooks may replace what the model answered, before anybody acts on it. */
export function parseAnswerChange(
  answer: AssistantMessage,
  given: Readonly<Record<string, unknown>>,
): { readonly answer: AssistantMessage; readonly problem: string | null } {
  const { messages } = given;
  if (messages === undefined) return { answer, problem: null };
  const message = Array.isArray(messages) ? parseMessage(messages[0]) : null;
  return message?.role === 'assistant'
    ? { answer: message, problem: null }
    : { answer, problem: 'a hook of ModelResponse gave an answer that is none, so it stays' };
}

function parseMessages(given: unknown, problems: string[]): Partial<ModelRequest> {
  if (given === undefined) return {};
  const list = Array.isArray(given) ? given.map(parseMessage) : [null];
  const messages = list.flatMap((each) => each ?? []);
  if (messages.length === list.length) return { messages: normalizeMessages(messages) };
  problems.push('messages that are none, so the conversation stays as it is');
  return {};
}

function parseMessage(given: unknown): Message | null {
  if (!isRecord(given)) return null;
  const { role, content } = given;
  const blocks: unknown = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (!Array.isArray(blocks)) return null;
  if (role === 'user' && blocks.every(isUserBlock)) return { role, content: blocks };
  if (role === 'assistant' && blocks.every(isAssistantBlock)) return { role, content: blocks };
  return null;
}

function isUserBlock(block: unknown): block is UserBlock {
  if (!isRecord(block)) return false;
  if (isTextOrImage(block)) return true;
  const { type, tool_use_id: id, content } = block;
  const isContent =
    typeof content === 'string' || (Array.isArray(content) && content.every(isTextOrImage));
  return type === 'tool_result' && typeof id === 'string' && isContent;
}

/** Text or image. */
function isTextOrImage(block: unknown): boolean {
  if (!isRecord(block)) return false;
  if (block['type'] === 'text') return typeof block['text'] === 'string';
  return block['type'] === 'image' && isRecord(block['source']);
}

function isAssistantBlock(block: unknown): block is AssistantBlock {
  if (!isRecord(block)) return false;
  const { type, text, thinking, id, name } = block;
  if (type === 'text') return typeof text === 'string';
  if (type === 'thinking') return typeof thinking === 'string';
  return type === 'tool_use' && typeof id === 'string' && typeof name === 'string';
}

function parseTools(given: unknown, problems: string[]): Partial<ModelRequest> {
  if (given === undefined) return {};
  if (Array.isArray(given) && given.every(isToolSpec)) return { tools: given };
  problems.push('tools that are none, so they stay as they are');
  return {};
}

function isToolSpec(given: unknown): given is ToolSpec {
  if (!isRecord(given)) return false;
  const { name, description, schema } = given;
  return typeof name === 'string' && typeof description === 'string' && isRecord(schema);
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number' && value >= 0;

const OPTIONS: Readonly<Record<string, (value: unknown) => boolean>> = {
  system: isText,
  maxOutputTokens: isNumber,
  temperature: isNumber,
  effort: isText,
  thinking: (value) => typeof value === 'boolean',
};

function parseOptions(given: unknown, problems: string[]): Partial<ModelRequest> {
  if (given === undefined) return {};
  if (!isRecord(given)) {
    problems.push(`options that should be an object, found ${getTypeName(given)}`);
    return {};
  }
  const usable = Object.entries(given).filter(([name, value]) => {
    const isUsable = OPTIONS[name]?.(value) === true;
    if (!isUsable) problems.push(`the option ${JSON.stringify(name)}, which is no use here`);
    return isUsable;
  });
  return Object.fromEntries(usable);
}
