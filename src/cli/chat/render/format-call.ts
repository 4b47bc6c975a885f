import path from 'node:path';
import { listCallParts } from '../../../agent/call-parts.ts';
import type { RuntimeEvent } from '../../../agent/runtime-event.ts';
import { isRecord } from '../../../base/json.ts';
import { colors } from '../../output/colors.ts';
import { formatCount, toPrintable, toPrintableLines } from '../../output/print.ts';
import { formatCall } from '../../output/format-transcript.ts';
import type { Fold } from '../view/view.ts';
import { truncateLines } from './format-text.ts';

type ToolEnd = Extract<RuntimeEvent, { type: 'tool-end' }>;

const MAX_OUTPUT_LINES = 200;
const LINE_WIDTH = 160;

/** A finished call: one line, with its output folded. */
export function formatEndedCall(ended: ToolEnd, cwd: string): Fold {
  const { output, parentAgentId } = ended;
  const inset = parentAgentId === null ? '' : '  ';
  const mark = output.success ? colors.cyan('•') : colors.red('✗');
  const text = removeErrorTags(output.text);
  return {
    head: `${inset}${mark} ${formatAnswers(ended) ?? formatCallAndResult(ended, text, cwd)}`,
    details: truncateLines(text, MAX_OUTPUT_LINES).map(toPrintable),
  };
}

export function formatDeniedCall({ tool, input, output, deniedBy }: ToolEnd, cwd: string): string {
  const call = formatFirstLine(formatSubject({ tool, input }), cwd);
  const text = removeErrorTags(output.text);
  const reason = deniedBy === 'person' ? text.replace(USER_DENIAL, '') : text;
  const label = deniedBy === 'person' ? 'You denied this' : `denied (${deniedBy})`;
  const why = reason === '' ? '' : `: ${toPrintableLines(reason)}`;
  return `${colors.red('✗')} ${truncateLine(call)}\n  ${colors.red(label)}${why}`;
}

/** What the model is told before the user's reason. */
const USER_DENIAL = /^The \w+ (?:denied|did not allow) this call[.:]?\s*(?:They said: )?/u;

function formatCallAndResult({ tool, input, output }: ToolEnd, text: string, cwd: string): string {
  const lines = text.trimEnd() === '' ? [] : text.trimEnd().split('\n');
  const size = lines.length > 1 ? ` (${formatCount(lines.length, 'line')})` : '';
  const isTelling = lines.length === 1 || !output.success;
  const first = isTelling ? `: ${formatFirstLine(lines[0] ?? '', cwd)}` : '';
  const call = formatFirstLine(formatSubject({ tool, input }), cwd);
  return `${truncateLine(call)}${colors.dim(`${truncateLine(first)}${size}`)}`;
}

/** The questions with the user's answers; null when the call asked none. */
function formatAnswers({ output: { response, success } }: ToolEnd): string | null {
  if (!success || !isRecord(response) || !isRecord(response['answers'])) return null;
  const answers = Object.entries(response['answers']).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  if (!Array.isArray(response['questions']) || answers.length === 0) return null;
  return answers
    .map(
      ([question, answer]) =>
        `${truncateLine(toPrintable(question))} ${colors.dim(`→ ${truncateLine(toPrintable(answer))}`)}`,
    )
    .join('\n  ');
}

function formatSubject({ tool, input }: Pick<ToolEnd, 'tool' | 'input'>): string {
  const questions = listQuestions({ tool, input });
  return questions.length === 0 ? formatCall({ name: tool, input }) : questions.join(' ');
}

function listQuestions({ tool, input }: Pick<ToolEnd, 'tool' | 'input'>): readonly string[] {
  const [part] = listCallParts({ tool, input, cwd: path.sep });
  const questions: unknown = part?.name === 'AskUserQuestion' ? part.fields['questions'] : [];
  if (!Array.isArray(questions)) return [];
  return questions.flatMap((each: unknown) =>
    isRecord(each) && typeof each['question'] === 'string' ? [each['question']] : [],
  );
}

/** The error tags are for the model only. */
function removeErrorTags(text: string): string {
  return text.replaceAll(/^<error>(.*)<\/error>$/gmu, '$1');
}

/** The first line, with paths relative to the cwd. */
function formatFirstLine(text: string, cwd: string): string {
  const [first = ''] = text.split('\n');
  return toPrintable(cwd === '' ? first : first.replaceAll(`${cwd}${path.sep}`, ''));
}

function truncateLine(text: string): string {
  return text.length <= LINE_WIDTH ? text : `${text.slice(0, LINE_WIDTH - 1)}…`;
}
