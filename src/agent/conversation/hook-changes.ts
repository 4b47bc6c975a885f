import { getOwnValue, isRecord, getTypeName } from '../../base/json.ts';
import {
  type AssistantBlock,
  type AssistantMessage,
  isMedia,
  type Message,
  type UserBlock,
  type TextBlock,
} from '../../sessions/messages.ts';
import type { ModelRequest, ToolSpec } from '../models/model.ts';
import { normalizeMessages } from './normalize-messages.ts';
import { dropUndefined } from '../../base/defined.ts';
import type { Verdict } from '../../hooks/decision.ts';
import { type PreparedPart, joinPartOutputs } from '../tools/prepare-tool-call.ts';
import { limitText } from '../tools/shell/command-output.ts';
import type { ToolOutput } from '../tools/tool.ts';

/**
 * Hooks may replace messages and tools and set options; every value is validated, and an invalid one is
 * described in `problems`.
 */
export function parseRequestChanges(changes: Readonly<Record<string, unknown>>): {
  readonly changed: Partial<ModelRequest>;
  readonly problems: readonly string[];
} {
  const problems: string[] = [];
  const changed = {
    ...parseMessages(changes['messages'], problems),
    ...parseTools(changes['tools'], problems),
    ...parseOptions(changes['options'], problems),
  };
  return { changed, problems: problems.map((problem) => `ModelRequest hook: ${problem}`) };
}

/** Hooks may replace the model's answer before it is processed. */
export function parseAnswerChange(
  answer: AssistantMessage,
  changes: Readonly<Record<string, unknown>>,
): { readonly answer: AssistantMessage; readonly problem: string | null } {
  const { messages } = changes;
  if (messages === undefined) return { answer, problem: null };
  const message = Array.isArray(messages) ? parseMessage(messages[0]) : null;
  return message?.role === 'assistant'
    ? { answer: message, problem: null }
    : { answer, problem: 'ModelResponse hook: invalid answer (ignored)' };
}

function parseMessages(value: unknown, problems: string[]): Partial<ModelRequest> {
  if (value === undefined) return {};
  const list = Array.isArray(value) ? value.map(parseMessage) : [null];
  const messages = list.flatMap((each) => each ?? []);
  if (messages.length === list.length) return { messages: normalizeMessages(messages) };
  problems.push('invalid messages (ignored)');
  return {};
}

function parseMessage(value: unknown): Message | null {
  if (!isRecord(value)) return null;
  const { role, content } = value;
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

function isTextOrImage(block: unknown): boolean {
  if (!isRecord(block)) return false;
  if (block['type'] === 'text') return typeof block['text'] === 'string';
  return block['type'] === 'image' && isRecord(block['source']);
}

function isAssistantBlock(block: unknown): block is AssistantBlock {
  if (!isRecord(block)) return false;
  const { type, text, thinking, id, name, media } = block;
  if (type === 'text') return typeof text === 'string';
  if (type === 'thinking') return typeof thinking === 'string';
  if (type === 'media') return isMedia(media);
  return type === 'tool_use' && typeof id === 'string' && typeof name === 'string';
}

function parseTools(value: unknown, problems: string[]): Partial<ModelRequest> {
  if (value === undefined) return {};
  if (Array.isArray(value) && value.every(isToolSpec)) return { tools: value };
  problems.push('invalid tools (ignored)');
  return {};
}

function isToolSpec(value: unknown): value is ToolSpec {
  if (!isRecord(value)) return false;
  const { name, description, schema } = value;
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
  ownOptions: isRecord,
};

function parseOptions(value: unknown, problems: string[]): Partial<ModelRequest> {
  if (value === undefined) return {};
  if (!isRecord(value)) {
    problems.push(`options must be an object, found ${getTypeName(value)}`);
    return {};
  }
  const usable = Object.entries(value).filter(([name, value]) => {
    const isUsable = getOwnValue(OPTIONS, name)?.(value) === true;
    if (!isUsable) problems.push(`invalid option ${JSON.stringify(name)} (ignored)`);
    return isUsable;
  });
  return Object.fromEntries(usable);
}

/** The tool output with the responses that hooks put in its place; a long one is stored in a file. */
export function applyHookOutputs(
  output: ToolOutput,
  verdicts: readonly Verdict[],
  parts: readonly PreparedPart[],
  spillDirectory: string | null,
): ToolOutput {
  const replaceOutput = createOutputReplacer(spillDirectory);
  const last = verdicts.findLast((verdict) => verdict.output !== null);
  if (last === undefined) return output;
  const partOutputs = collectPartOutputs(verdicts);
  if (output.parts === undefined || partOutputs === null) {
    return replaceOutput(output, last.output, last.changes['failed']);
  }
  const outputs = output.parts.map((own, part) =>
    partOutputs.has(part) ? replaceOutput(own, partOutputs.get(part)) : own,
  );
  return joinPartOutputs(parts, outputs);
}

/**
 * The last output that a hook returned for each part; null when a hook returned an output for the whole
 * call.
 */
function collectPartOutputs(verdicts: readonly Verdict[]): ReadonlyMap<number, unknown> | null {
  const outputs = new Map<number, unknown>();
  for (const { part, decision } of verdicts.flatMap(({ outcomes }) => outcomes)) {
    if (decision?.output === undefined) continue;
    if (part === null) return null;
    outputs.set(part, decision.output);
  }
  return outputs;
}

function createOutputReplacer(spillDirectory: string | null) {
  return (output: ToolOutput, response: unknown, failed?: unknown): ToolOutput => {
    const { images: _images, parts: _parts, error: _error, finalAnswer, ...rest } = output;
    const whole = formatHookOutput(response);
    const text = limitText(whole, spillDirectory);
    const success = typeof failed === 'boolean' ? !failed : output.success;
    return {
      ...rest,
      response,
      text,
      success,
      replaced: true,
      ...(output.success && !success ? { refusedByHook: true } : {}),
      ...dropUndefined({
        error: success ? undefined : text,
        finalAnswer: finalAnswer === undefined ? undefined : whole,
      }),
    };
  };
}

function formatHookOutput(response: unknown): string {
  if (typeof response === 'string') return response;
  if (Array.isArray(response) && response.length > 0 && response.every(isTextBlock)) {
    return response.map(({ text }) => text).join('\n');
  }
  if (typeof response === 'object' && response !== null) {
    if ('stdout' in response && typeof response.stdout === 'string') return response.stdout;
    if ('file' in response && typeof response.file === 'object' && response.file !== null) {
      if ('content' in response.file && typeof response.file.content === 'string') {
        return response.file.content;
      }
    }
  }
  return JSON.stringify(response) ?? '';
}

/** The shape of an MCP tool's answer. */
function isTextBlock(block: unknown): block is TextBlock {
  return isRecord(block) && block['type'] === 'text' && typeof block['text'] === 'string';
}
