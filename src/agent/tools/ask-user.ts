import { waitOrAbort } from '../../base/abort.ts';
import { isRecord } from '../../base/json.ts';
import { defineTool } from './define-tool.ts';
import type { InputFields } from './input-fields.ts';
import { createFailedOutput, type ToolOutput } from './tool.ts';
import type { Question } from './tool-context.ts';

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

interface AskInput {
  readonly questions: readonly Question[];
  /** What a hook answered for the person; null when it did not answer all of them. */
  readonly answers: Answers | null;
}

type Answers = Readonly<Record<string, string>>;

export const askUserQuestionTool = defineTool<AskInput>({
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
  parse(given) {
    const questions = given.list('questions', readQuestion);
    if (questions.length === 0 || questions.length > MAX_QUESTIONS) {
      given.reject('questions', `a list of 1 to ${MAX_QUESTIONS} questions`);
    }
    return { questions, answers: readAnswers(given.raw('answers'), questions) };
  },
  toHookInput: ({ questions, answers }) =>
    answers === null ? { questions } : { questions, answers },
  async run({ questions, answers: given }, bench, { signal }) {
    if (given !== null) return createAnswerOutput(questions, given);
    const { askUser: askPerson } = bench.ports;
    if (askPerson === undefined) {
      return createFailedOutput(
        'Nobody is here to answer. Decide by yourself what is most sensible, and say what you assumed.',
      );
    }
    const answers = await waitOrAbort(askPerson(questions, signal), signal);
    if (answers === null) return createFailedOutput('The person dismissed the questions.');
    return createAnswerOutput(questions, answers);
  },
});

function createAnswerOutput(questions: readonly Question[], answers: Answers): ToolOutput {
  return {
    response: { questions, answers },
    text: formatAnswers(questions, answers),
    success: true,
  };
}

function readAnswers(given: unknown, questions: readonly Question[]): Answers | null {
  if (!isRecord(given)) return null;
  const answers = new Map(
    questions.map(({ question }) => [question, formatAnswer(given[question])] as const),
  );
  return [...answers.values()].includes('') ? null : Object.fromEntries(answers);
}

/** Of several answers to one question Claude Code makes one text, too. */
function formatAnswer(given: unknown): string {
  const texts = Array.isArray(given) ? given : [given];
  return texts.filter((text) => typeof text === 'string').join(', ');
}

function readQuestion(given: InputFields): Question {
  const options = given.has('options') ? given.list('options', readOption) : [];
  if (options.length === 1 || options.length > MAX_OPTIONS) {
    given.reject('options', 'a list of 2 to 4 options');
  }
  const header = given.optionalText('header') ?? '';
  return {
    question: given.requiredText('question'),
    header: header === '' ? 'Question' : header,
    options,
    multiSelect: given.flag('multiSelect'),
  };
}

function readOption(given: InputFields): Question['options'][number] {
  return {
    label: given.requiredText('label'),
    description: given.optionalText('description') ?? '',
  };
}

function formatAnswers(questions: readonly Question[], answers: Answers): string {
  return questions
    .map(({ question }) => `${question}\n→ ${answers[question] ?? '(no answer)'}`)
    .join('\n\n');
}

/** To be asked for it is the point: whoever lets the call pass agrees with the plan. */
export const exitPlanModeTool = defineTool<{ readonly plan: string }>({
  name: 'ExitPlanMode',
  description:
    'Shows your plan to the person and, if they agree, ends plan mode, so that you can carry it out. Call ' +
    'it in plan mode once the plan for a change is complete; not for research that changes nothing.',
  kind: 'ask',
  schema: {
    type: 'object',
    properties: { plan: { type: 'string', description: 'The plan, in markdown' } },
    required: ['plan'],
    additionalProperties: false,
  },
  parse: (given) => ({ plan: given.requiredText('plan') }),
  toHookInput: ({ plan }) => ({ plan }),
  async run({ plan }, bench) {
    const { leavePlanMode } = bench.ports;
    if (leavePlanMode === undefined) {
      return createFailedOutput(
        'There is no plan mode to leave here. Give the plan as your answer.',
      );
    }
    leavePlanMode();
    return {
      response: { plan, filePath: null, isAgent: false },
      text: 'The person agrees with your plan. Begin to carry it out.',
      success: true,
    };
  },
});
