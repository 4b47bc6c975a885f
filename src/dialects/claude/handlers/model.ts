import { isRecord, parseJson, getTypeName } from '../../../base/json.ts';
import type { Answer, Handler, HandlerInput } from '../../../hooks/handler.ts';
import type { PromptEntry, Limited } from '../entry.ts';
import type { ModelQuestion } from '../../../hooks/model-question.ts';
import type { AskModel } from '../../ports.ts';
import { createFailedAnswer, createLimitedRun, createProgramReport } from './limited-run.ts';

export interface ModelTools {
  readonly askModel?: AskModel | undefined;
  /** The payload as compact JSON. */
  payloadText(input: HandlerInput): string;
  decide(input: HandlerInput, text: string): Answer;
}

/** Creates a run that sends the prompt of a `prompt` or `agent` hook to the host's model. */
export function createModelRun(entry: Limited<PromptEntry>, tools: ModelTools): Handler['run'] {
  return createLimitedRun(entry, (input, signal) => askHost(entry, tools, input, signal));
}

async function askHost(
  entry: PromptEntry,
  tools: ModelTools,
  input: HandlerInput,
  signal: AbortSignal,
): Promise<Answer> {
  if (tools.askModel === undefined) {
    const message = `this host has no model for hooks, so the ${entry.type} hook was not asked`;
    return createFailedAnswer('spawn', message);
  }
  const text: unknown = await tools.askModel(createQuestion(entry, tools, input), signal);
  if (typeof text !== 'string') {
    return createFailedAnswer(
      'output',
      `the host’s model should answer with text, found ${getTypeName(text)}`,
    );
  }
  return { program: createProgramReport(text), ...tools.decide(input, text) };
}

function createQuestion(entry: PromptEntry, tools: ModelTools, input: HandlerInput): ModelQuestion {
  const isAgent = entry.type === 'agent';
  const payloadText = tools.payloadText(input);
  return {
    kind: entry.type,
    prompt: fillPrompt(entry.prompt, payloadText),
    model: entry.model,
    schema: isAgent ? AGENT_SCHEMA : PROMPT_SCHEMA,
    transcriptPath: isAgent
      ? (input.event.transcriptPath ?? readTranscriptPath(payloadText))
      : null,
  };
}

/** Read from the payload, which names a transcript even when the host keeps none. */
function readTranscriptPath(payloadText: string): string | null {
  const parsed = parseJson(payloadText);
  const transcriptPath =
    parsed.ok && isRecord(parsed.value) ? parsed.value['transcript_path'] : null;
  return typeof transcriptPath === 'string' ? transcriptPath : null;
}

const PROMPT_SCHEMA = {
  type: 'object',
  properties: {
    ok: { type: 'boolean' },
    reason: { type: 'string' },
    impossible: { type: 'boolean' },
  },
  required: ['ok', 'reason'],
  additionalProperties: false,
};

const AGENT_SCHEMA = {
  type: 'object',
  properties: { ok: { type: 'boolean' }, reason: { type: 'string' } },
  required: ['ok'],
  additionalProperties: false,
};

/** Replaces `$ARGUMENTS` with the payload, or appends it; `\$` is a literal dollar sign. */
export function fillPrompt(prompt: string, payloadText: string): string {
  let isPlaced = false;
  const filled = prompt.replaceAll(/\\\$|\$ARGUMENTS(?![A-Za-z0-9_])/g, (found) => {
    if (found === '\\$') return '$';
    isPlaced = true;
    return payloadText;
  });
  return isPlaced ? filled : `${filled}\n\n${payloadText}`;
}
