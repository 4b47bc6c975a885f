import { isRefusal } from '../../hooks/decision.ts';
import {
  type Message,
  getMessageText,
  createUserMessage,
  SUMMARY_START,
} from '../../sessions/messages.ts';
import type { Agent } from '../agent.ts';
import { normalizeMessages } from '../conversation/normalize-messages.ts';
import { formatBlockedCompaction, collectValues } from '../conversation/hook-messages.ts';
import type { ModelFailure } from '../models/model.ts';
import { fireSessionStart } from '../session/session-start.ts';
import { announceInstructions } from './background-events.ts';
import { streamFromModel } from './model-turn.ts';

/** Why the conversation was not compacted; null when it was. */
export type CompactionProblem = string | null;

/** Whether the next request would leave too little room for an answer. */
export function isContextFull({ contextTokens, model, session }: Agent): boolean {
  return contextTokens > model.contextTokens * session.limits.compactAt;
}

/**
 * Replaces the conversation by a summary; the only place where PreCompact and PostCompact are fired.
 * `wishes` is what the user wants to keep.
 */
export async function compact(
  agent: Agent,
  trigger: 'manual' | 'auto',
  wishes: string | null,
  signal: AbortSignal,
): Promise<CompactionProblem> {
  const tokensBefore = agent.contextTokens;
  const hookAnswer = await askHooks(agent, trigger, wishes, signal);
  if (hookAnswer.blocked !== null) return hookAnswer.blocked;
  agent.emit({ type: 'compaction-start', trigger });
  const summary = await summarize(agent, hookAnswer.instructions, signal);
  signal.throwIfAborted();
  agent.emit({ type: 'compaction-end', tokensBefore, summary: summary.text });
  if (summary.text === null) return summary.problem;
  agent.conversation.compact(createUserMessage(formatContinuation(summary.text)), {
    trigger,
    tokensBefore,
  });
  agent.contextTokens = 0;
  agent.session.fileInstructions.forgetFiles(agent.facts.id);
  await fireSessionStart(agent, { source: 'compact' }, signal);
  await agent.fire({ name: 'PostCompact', trigger, summary: summary.text }, signal);
  if (agent.facts.parentId === null) announceInstructionsAgain(agent);
  return null;
}

/** The instructions are sent before the summary, as before the conversation. */
function announceInstructionsAgain(agent: Agent): void {
  const again = agent.session.instructions.map(
    (each) => ({ ...each, loadReason: 'compact' }) as const,
  );
  announceInstructions(agent, again);
}

async function askHooks(
  agent: Agent,
  trigger: 'manual' | 'auto',
  instructions: string | null,
  signal: AbortSignal,
) {
  const verdict = await agent.fire(
    {
      name: 'PreCompact',
      trigger,
      instructions,
      messageCount: agent.conversation.messages.length,
      tokensIn: agent.usage.inputTokens,
      tokensOut: agent.usage.outputTokens,
      tokensInCache: agent.usage.cacheReadTokens,
      tokensOutCache: agent.usage.cacheWriteTokens,
    },
    signal,
  );
  if (isRefusal(verdict.effect)) {
    return { blocked: formatBlockedCompaction(verdict), instructions: '' };
  }
  const more = collectValues(verdict, 'instructions').filter((each) => typeof each === 'string');
  const contexts = verdict.context.map(({ text }) => text);
  const all = [instructions ?? '', ...more, ...contexts];
  return { blocked: null, instructions: all.filter((text) => text !== '').join('\n\n') };
}

type Summary =
  | { readonly text: string; readonly problem: null }
  | { readonly text: null; readonly problem: string; readonly isTooLong: boolean };

const TOO_LONG =
  /too long|context (?:length|window)|maximum context|exceeds? the (?:limit|maximum)/i;

/** Whether the service found the conversation too long. */
export function isTooLong({ class: kind, message, details = '' }: ModelFailure): boolean {
  return kind === 'invalid_request' && TOO_LONG.test(`${message} ${details}`);
}

const INSTRUCTION = `Write a summary of this conversation for whoever goes on with the work and will see nothing else of it. Say, in this order: what the user asked for, in their own words where it matters; what was done and found out, with file names, commands and decisions; what went wrong and how it was solved; what is left to do, and the very next step. Do not call any tool. Answer with the summary only.`;

async function summarize(agent: Agent, more: string, signal: AbortSignal): Promise<Summary> {
  const addition = more === '' ? '' : `\n\nAdditional Instructions:\n${more}`;
  const instruction = createUserMessage(`${INSTRUCTION}${addition}`);
  let { messages } = agent.conversation;
  for (;;) {
    const summary = await askForSummary(agent, [...messages, instruction], signal);
    if (summary.text !== null || !summary.isTooLong || messages.length < 2) return summary;
    // Too long for the summary request as well, so the earlier half is left out.
    messages = messages.slice(Math.ceil(messages.length / 2));
  }
}

async function askForSummary(
  agent: Agent,
  messages: readonly Message[],
  signal: AbortSignal,
): Promise<Summary> {
  const request = {
    system: agent.systemPrompt(),
    messages: normalizeMessages(messages),
    tools: [],
    thinking: false,
  };
  for await (const chunk of streamFromModel(agent, request, signal)) {
    if (chunk.type === 'failure') {
      const { failure } = chunk;
      return { text: null, problem: failure.message, isTooLong: isTooLong(failure) };
    }
    if (chunk.type !== 'end') continue;
    agent.recordUsage(chunk.usage);
    const text = getMessageText({ role: 'assistant', content: chunk.content }).trim();
    if (text !== '') return { text, problem: null };
  }
  return { text: null, problem: 'the model gave no summary', isTooLong: false };
}

function formatContinuation(summary: string): string {
  return `${SUMMARY_START}\n\n${summary}\n\nGo on from there without asking the user again what was settled already.`;
}
