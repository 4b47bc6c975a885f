import { waitOrAbort } from '../../base/abort.ts';
import { isRecord } from '../../base/json.ts';
import { defineTool } from './define-tool.ts';
import type { InputFields } from './input-fields.ts';
import { createFailedOutput, type ToolOutput } from './tool.ts';
import type { Question } from './tool-context.ts';

const MAX_QUESTIONS = 4;
// Claude Code allows four options, Cline five; Cline's open questions have none.
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

type Answers = Readonly<Record<string, string>>;

export const askUserQuestionTool = defineTool({
  name: 'AskUserQuestion',
  description:
    'Asks the user who gave the task, and waits for the answer. Only for what you cannot find out ' +
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
  parse(fields) {
    const questions = fields.list('questions', parseQuestion);
    if (questions.length === 0 || questions.length > MAX_QUESTIONS) {
      fields.reject('questions', `a list of 1 to ${MAX_QUESTIONS} questions`);
    }
    return { questions, answers: parseAnswers(fields.raw('answers'), questions) };
  },
  toHookInput: ({ questions, answers }) =>
    answers === null ? { questions } : { questions, answers },
  async run({ questions, answers: hookAnswers }, context, { signal, callId }) {
    if (hookAnswers !== null) return createAnswerOutput(questions, hookAnswers);
    const { askUser } = context.ports;
    if (askUser === undefined) {
      return createFailedOutput(
        'Nobody is here to answer. Decide by yourself what is most sensible, and say what you assumed.',
      );
    }
    const answers = await waitOrAbort(askUser(questions, signal, callId), signal);
    if (answers === null) return createFailedOutput('The user dismissed the questions.');
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

/** Answers that a hook gave for the user; null when it did not answer all questions. */
function parseAnswers(value: unknown, questions: readonly Question[]): Answers | null {
  if (!isRecord(value)) return null;
  const answers = new Map(
    questions.map(({ question }) => [question, formatAnswer(value[question])] as const),
  );
  return [...answers.values()].includes('') ? null : Object.fromEntries(answers);
}

/** Claude Code also joins several answers to one question. */
function formatAnswer(answer: unknown): string {
  const texts = Array.isArray(answer) ? answer : [answer];
  return texts.filter((text) => typeof text === 'string').join(', ');
}

function parseQuestion(fields: InputFields): Question {
  const options = fields.has('options') ? fields.list('options', parseOption) : [];
  if (options.length === 1 || options.length > MAX_OPTIONS) {
    fields.reject('options', 'a list of 2 to 4 options');
  }
  const header = fields.optionalText('header') ?? '';
  return {
    question: fields.requiredText('question'),
    header: header === '' ? 'Question' : header,
    options,
    multiSelect: fields.flag('multiSelect'),
  };
}

function parseOption(fields: InputFields): Question['options'][number] {
  return {
    label: fields.requiredText('label'),
    description: fields.optionalText('description') ?? '',
  };
}

function formatAnswers(questions: readonly Question[], answers: Answers): string {
  return questions
    .map(({ question }) => `${question}\n→ ${answers[question] ?? '(no answer)'}`)
    .join('\n\n');
}

/** The approval is the purpose of this tool: allowing the call accepts the plan. */
export const exitPlanModeTool = defineTool({
  name: 'ExitPlanMode',
  description:
    'Shows your plan to the user and, if they agree, ends plan mode, so that you can carry it out. Call ' +
    'it in plan mode once the plan for a change is complete; not for research that changes nothing.',
  kind: 'ask',
  schema: {
    type: 'object',
    properties: { plan: { type: 'string', description: 'The plan, in markdown' } },
    required: ['plan'],
    additionalProperties: false,
  },
  parse: (fields) => ({ plan: fields.requiredText('plan') }),
  toHookInput: ({ plan }) => ({ plan }),
  async run({ plan }, context) {
    const { leavePlanMode } = context.ports;
    if (leavePlanMode === undefined) {
      return createFailedOutput(
        'There is no plan mode to leave here. Give the plan as your answer.',
      );
    }
    leavePlanMode();
    return {
      response: { plan, filePath: null, isAgent: false },
      text: 'The user agrees with your plan. Begin to carry it out.',
      success: true,
    };
  },
});
