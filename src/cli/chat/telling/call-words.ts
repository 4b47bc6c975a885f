import path from 'node:path';
import { callParts } from '../../../agent/call-parts.ts';
import type { RuntimeEvent } from '../../../agent/runtime-event.ts';
import { isRecord } from '../../../base/json.ts';
import { colors } from '../../words/colors.ts';
import { plural, printable, printableLines } from '../../words/print.ts';
import { callText } from '../../words/transcript.ts';
import type { Fold } from '../view/view.ts';
import { firstLines } from './shown-text.ts';

type Ended = Extract<RuntimeEvent, { type: 'tool-end' }>;

const SHOWN_OUTPUT_LINES = 200;
const LINE_WIDTH = 160;

/** A call that has run: one line, and its output behind it. */
export function endedCall(ended: Ended, cwd: string): Fold {
  const { output, parentAgentId } = ended;
  const inset = parentAgentId === null ? '' : '  ';
  const mark = output.success ? colors.cyan('•') : colors.red('✗');
  const text = withoutMarks(output.text);
  return {
    head: `${inset}${mark} ${answersIn(ended) ?? callAndResult(ended, text, cwd)}`,
    details: firstLines(text, SHOWN_OUTPUT_LINES).map(printable),
  };
}

export function deniedCall({ tool, input, output, deniedBy }: Ended, cwd: string): string {
  const call = saidHere(subjectOf({ tool, input }), cwd);
  const why = printableLines(withoutMarks(output.text));
  return `${colors.red('✗')} ${cut(call)}\n  ${colors.red(`denied (${deniedBy})`)}: ${why}`;
}

function callAndResult({ tool, input, output }: Ended, text: string, cwd: string): string {
  const lines = text.trimEnd() === '' ? [] : text.trimEnd().split('\n');
  const size = lines.length > 1 ? ` (${plural(lines.length, 'line')})` : '';
  const isTelling = lines.length === 1 || !output.success;
  const first = isTelling ? `: ${saidHere(lines[0] ?? '', cwd)}` : '';
  const call = saidHere(subjectOf({ tool, input }), cwd);
  return `${cut(call)}${colors.dim(`${cut(first)}${size}`)}`;
}

/** The questions with what the person answered; null when it is no call that asked any. */
function answersIn({ output: { response, success } }: Ended): string | null {
  if (!success || !isRecord(response) || !isRecord(response['answers'])) return null;
  const answers = Object.entries(response['answers']).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  if (!Array.isArray(response['questions']) || answers.length === 0) return null;
  return answers
    .map(
      ([question, answer]) =>
        `${cut(printable(question))} ${colors.dim(`→ ${cut(printable(answer))}`)}`,
    )
    .join('\n  ');
}

function subjectOf({ tool, input }: Pick<Ended, 'tool' | 'input'>): string {
  const questions = questionsIn({ tool, input });
  return questions.length === 0 ? callText({ name: tool, input }) : questions.join(' ');
}

function questionsIn({ tool, input }: Pick<Ended, 'tool' | 'input'>): readonly string[] {
  const [part] = callParts({ tool, input, cwd: path.sep });
  const questions: unknown = part?.name === 'AskUserQuestion' ? part.fields['questions'] : [];
  if (!Array.isArray(questions)) return [];
  return questions.flatMap((each: unknown) =>
    isRecord(each) && typeof each['question'] === 'string' ? [each['question']] : [],
  );
}

/** The marks tell a model what is no output; a person sees it. */
function withoutMarks(text: string): string {
  return text.replaceAll(/^<error>(.*)<\/error>$/gmu, '$1');
}

/** The first line, with paths as one says them here. */
function saidHere(text: string, cwd: string): string {
  const [first = ''] = text.split('\n');
  return printable(cwd === '' ? first : first.replaceAll(`${cwd}${path.sep}`, ''));
}

function cut(text: string): string {
  return text.length <= LINE_WIDTH ? text : `${text.slice(0, LINE_WIDTH - 1)}…`;
}
