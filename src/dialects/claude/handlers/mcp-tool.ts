import { isRecord, getTypeName } from '../../../base/json.ts';
import type { Answer, Handler, HandlerInput } from '../../../hooks/handler.ts';
import type { McpToolEntry, Limited } from '../entry.ts';
import type { CallMcp, McpAnswer } from '../../ports.ts';
import {
  formatExcerpt,
  createFailedAnswer,
  createLimitedRun,
  createProgramReport,
} from './limited-run.ts';

export interface McpTools {
  readonly callMcp?: CallMcp | undefined;
  decode(input: HandlerInput, text: string): Answer;
  /** The object in which `${path.to.field}` is looked up. */
  payload(input: HandlerInput): object;
}

/** Creates a run that calls an MCP tool and decodes its text as a hook's output. */
export function createMcpToolRun(entry: Limited<McpToolEntry>, tools: McpTools): Handler['run'] {
  return createLimitedRun(entry, (input, signal) => callTool(entry, tools, input, signal));
}

async function callTool(
  entry: McpToolEntry,
  tools: McpTools,
  input: HandlerInput,
  signal: AbortSignal,
): Promise<Answer> {
  const { server, tool } = entry;
  if (tools.callMcp === undefined) {
    return createFailedAnswer(
      'spawn',
      `this host cannot call MCP tools, so tool '${tool}' of server '${server}' was not called`,
    );
  }
  const filled = fillFields(entry.input, tools.payload(input));
  const answer: unknown = await tools.callMcp({ server, tool, input: filled }, signal);
  if (answer === null) return createFailedAnswer('spawn', `MCP server '${server}' not connected`);
  if (!isAnswer(answer)) return createFailedAnswer('output', describeWrongAnswer(entry, answer));
  const program = createProgramReport(answer.text);
  if (answer.isError) {
    return { program, ...createFailedAnswer('exit', describeToolError(entry, answer)) };
  }
  return { program, ...tools.decode(input, answer.text) };
}

/** A JavaScript host may return anything; an absent `isError` means false. */
function isAnswer(answer: unknown): answer is McpAnswer {
  if (!isRecord(answer) || typeof answer['text'] !== 'string') return false;
  return ['boolean', 'undefined'].includes(typeof answer['isError']);
}

function describeWrongAnswer({ server, tool }: McpToolEntry, answer: unknown): string {
  const found = isRecord(answer)
    ? `text: ${getTypeName(answer['text'])}, isError: ${getTypeName(answer['isError'])}`
    : getTypeName(answer);
  return `the host should answer for MCP tool '${tool}' of server '${server}' with { text: string, isError: boolean } or null, found ${found}`;
}

function describeToolError({ server, tool }: McpToolEntry, { text }: McpAnswer): string {
  const words = formatExcerpt(text);
  return `MCP tool '${tool}' of server '${server}' answered with an error: ${words === '' ? '(no text)' : words}`;
}

/** Replaces `${path.to.field}` in every string, at any depth. */
export function fillFields(
  input: Readonly<Record<string, unknown>>,
  payload: object,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => [key, fillValue(value, payload)]),
  );
}

function fillValue(value: unknown, payload: object): unknown {
  if (typeof value === 'string') return fillText(value, payload);
  if (Array.isArray(value)) return value.map((each) => fillValue(each, payload));
  return isRecord(value) ? fillFields(value, payload) : value;
}

function fillText(text: string, payload: object): string {
  return text.replaceAll(/\$\{([^{}]*)\}/g, (_all, path: string) =>
    toText(findField(payload, path.trim().split('.'))),
  );
}

function findField(payload: unknown, path: readonly string[]): unknown {
  let value = payload;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return null;
    value = Object.getOwnPropertyDescriptor(value, name)?.value;
  }
  return value;
}

function toText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
