import { waitOrAbort } from '../../base/abort.ts';
import { isRecord } from '../../base/json.ts';
import { defineTool } from './define-tool.ts';
import type { InputFields } from './input-fields.ts';
import { failedOutput, type ToolOutput } from './tool.ts';
import type { Question } from './workbench.ts';

const MAX_QUESTIONS = 4;
// Claude offers four at most, Cline five; and Cline's open questions have none.
const MAX_OPTIONS = 5;

const OPTION = {
  type: 'object',
  properties: {
    label: { type: 'string', description: 'The answer, in one to five words' },
    description: { type: 'string', description: 'What follows from it' },
  },
  required: ['label', 'description'],
  additionalProperties: false,
};

const QUESTION = {
  type: 'object',
  properties: {
    question: { type: 'string', description: 'The whole question' },
    header: { type: 'string', description: 'What it is about, in at most 12 characters' },
    options: { type: 'array', minItems: 2, maxItems: 4, items: OPTION },
    multiSelect: { type: 'boolean', description: 'Whether several answers may be chosen' },
  },
  required: ['question', 'header', 'options', 'multiSelect'],
  additionalProperties: false,
};

interface Asked {
  readonly questions: readonly Question[];
  /** What a hook answered for the person; null when it did not answer all of them. */
  readonly answers: Answers | null;
}

type Answers = Readonly<Record<string, string>>;

export const askUserQuestionTool = defineTool<Asked>({
  name: 'AskUserQuestion',
  description:
    'Asks the person who gave the task, and waits for the answer. Only for what you cannot find out ' +
    'yourself and what changes the work. They may also answer in their own words.',
  kind: 'ask',
  hookFields: ['answers'],
  schema: {
    type: 'object',
    properties: {
      questions: { type: 'array', minItems: 1, maxItems: MAX_QUESTIONS, items: QUESTION },
    },
    required: ['questions'],
    additionalProperties: false,
  },
  read(given) {
    const questions = given.list('questions', readQuestion);
    if (questions.length === 0 || questions.length > MAX_QUESTIONS) {
      given.refuse('questions', `a list of 1 to ${MAX_QUESTIONS} questions`);
    }
    return { questions, answers: readAnswers(given.raw('answers'), questions) };
  },
  toHookInput: ({ questions, answers }) =>
    answers === null ? { questions } : { questions, answers },
  async run({ questions, answers: given }, bench, { signal }) {
    if (given !== null) return answered(questions, given);
    const { askPerson } = bench.ports;
    if (askPerson === undefined) {
      return failedOutput(
        'Nobody is here to answer. Decide by yourself what is most sensible, and say what you assumed.',
      );
    }
    const answers = await waitOrAbort(askPerson(questions, signal), signal);
    if (answers === null) return failedOutput('The person dismissed the questions.');
    return answered(questions, answers);
  },
});

function answered(questions: readonly Question[], answers: Answers): ToolOutput {
  return {
    response: { questions, answers },
    text: sayAnswers(questions, answers),
    success: true,
  };
}

function readAnswers(given: unknown, questions: readonly Question[]): Answers | null {
  if (!isRecord(given)) return null;
  const answers = new Map(
    questions.map(({ question }) => [question, answerText(given[question])] as const),
  );
  return [...answers.values()].includes('') ? null : Object.fromEntries(answers);
}

/** Of several answers to one question Claude Code makes one text, too. */
function answerText(given: unknown): string {
  const texts = Array.isArray(given) ? given : [given];
  return texts.filter((text) => typeof text === 'string').join(', ');
}

function readQuestion(given: InputFields): Question {
  const options = given.has('options') ? given.list('options', readOption) : [];
  if (options.length === 1 || options.length > MAX_OPTIONS) {
    given.refuse('options', 'a list of 2 to 4 options');
  }
  const header = given.optionalText('header') ?? '';
  return {
    question: given.filledText('question'),
    header: header === '' ? 'Question' : header,
    options,
    multiSelect: given.flag('multiSelect'),
  };
}

function readOption(given: InputFields): Question['options'][number] {
  return {
    label: given.filledText('label'),
    description: given.optionalText('description') ?? '',
  };
}

function sayAnswers(questions: readonly Question[], answers: Answers): string {
  return questions
    .map(({ question }) => `${question}\n→ ${answers[question] ?? '(no answer)'}`)
    .join('\n\n');
}
