import { isRecord, parseJson, stripByteOrderMark } from '../../../base/json.ts';
import type { Answer } from '../../../hooks/handler.ts';
import { APPROVAL_KEYS, translateApproval } from './approval-answer.ts';
import type { OutputRequest } from './decide.ts';
import { createExitFailure } from './failures.ts';
import { findLastJsonLine, parseOutput } from './parse.ts';
import { checkAnswer, type HookAnswer } from './schema.ts';
import { limitText } from './spill.ts';

/**
 * Parses a first line of stdout that moves the hook to the background; null for any other line. The
 * time limit there is null when the line does not give one.
 */
export function parseAsyncLine(firstLine: string): { readonly timeoutMs: number | null } | null {
  const line = stripByteOrderMark(firstLine).trim();
  if (!line.startsWith('{')) return null;
  const parsed = parseJson(line);
  if (!parsed.ok || !isRecord(parsed.value) || parsed.value['async'] !== true) return null;
  const timeoutMs = parsed.value['asyncTimeout'];
  return { timeoutMs: isDuration(timeoutMs) ? timeoutMs : null };
}

function isDuration(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
}

/** The texts of a hook that wakes the session with exit code 2. */
interface Rewake {
  /** For the model, before what the hook wrote. */
  readonly message: string | null;
  /** For the user. */
  readonly summary: string | null;
}

/**
 * Decodes the output of a background hook: only text counts, because no action is pending any more.
 * `rewake` is null when it cannot wake the session.
 */
export function decodeLate(request: OutputRequest & { readonly rewake: Rewake | null }): Answer {
  const stdout = stripAsyncLine(request.stdout);
  const { rewake, exitCode } = request;
  if (rewake !== null && exitCode === 2) return createWakingAnswer(request, stdout, rewake);
  if (request.isTruncated) return createOutputFailure('stdout is too long and was truncated');
  const { written, warnings } = parseLateObject(stdout);
  if (written === null) return { ...explainExit(request), ...warnings };
  const value = request.isCline === true ? translateApproval(request.event, written) : written;
  if (typeof value === 'string') return createOutputFailure(value);
  const checked = checkAnswer(request.event, value, request.isCline === true ? APPROVAL_KEYS : []);
  const mistakes = toWarnings(checked.warnings);
  if (!checked.ok) return { ...createOutputFailure(checked.problem), ...mistakes };
  return { ...readTexts(checked.answer, request), ...mistakes };
}

function stripAsyncLine(stdout: string): string {
  const end = stdout.indexOf('\n');
  const first = end === -1 ? stdout : stdout.slice(0, end);
  if (parseAsyncLine(first) === null) return stdout;
  return end === -1 ? '' : stdout.slice(end + 1);
}

function createWakingAnswer(
  { event, stderr, spill }: OutputRequest,
  stdout: string,
  { message, summary }: Rewake,
): Answer {
  const output = stderr.trim() === '' ? stdout.trim() : stderr.trim();
  const name = stderr.trim() === '' ? 'stdout' : 'stderr';
  const text = output === '' ? 'A background hook asks for attention without a reason' : output;
  const limited = limitText(text, name, spill);
  const context = message === null ? limited.text : `${message}\n${limited.text}`;
  const notice = summary ?? `${event} hook feedback`;
  return { decision: { context, notice, wake: true }, notes: limited.notes };
}

/** The last line may be the answer of a hook that printed other lines before. */
function parseLateObject(stdout: string): {
  readonly written: Readonly<Record<string, unknown>> | null;
  readonly warnings: Pick<Answer, 'warnings'>;
} {
  const output = parseOutput(stdout);
  if (output.kind === 'json') return { written: output.value, warnings: {} };
  if (output.kind !== 'text') return { written: null, warnings: {} };
  const written = findLastJsonLine(output.text);
  return { written, warnings: written === null ? toWarnings(output.warnings) : {} };
}

function toWarnings(warnings: readonly string[]): Pick<Answer, 'warnings'> {
  return warnings.length === 0 ? {} : { warnings };
}

/** The failure has no effect any more, but must be visible. */
function explainExit(request: OutputRequest): Answer {
  return request.exitCode === 0 ? {} : { failure: createExitFailure(request) };
}

function createOutputFailure(message: string): Answer {
  return { failure: { kind: 'output', message } };
}

function readTexts(
  { specific, systemMessage, decision, goesOn }: HookAnswer,
  { spill }: OutputRequest,
): Answer {
  const context = limitText(specific.additionalContext ?? '', 'additionalContext', spill);
  const notice = limitText(systemMessage ?? '', 'systemMessage', spill);
  const isRuling = decision !== undefined || specific.permissionDecision !== undefined || !goesOn;
  const tooLate = 'it ran in the background, so its decision came too late and was ignored';
  return {
    decision: {
      ...(context.text === '' ? {} : { context: context.text }),
      ...(notice.text === '' ? {} : { notice: notice.text }),
    },
    notes: [...context.notes, ...notice.notes, ...(isRuling ? [tooLate] : [])],
  };
}
