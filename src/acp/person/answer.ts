import {
  CreateElicitationResponse,
  type ElicitationContentValue,
  type ElicitationPropertySchema,
  methods,
  type PermissionOption,
  type ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import type { Person } from '../../agent/world.ts';
import type { Question } from '../../agent/tools/tool-context.ts';
import { textContent } from '../shown/content.ts';
import type { Editor } from './editor.ts';

type Answers = Awaited<ReturnType<Person['answer']>>;

/** Has the editor ask the agent's questions: as one form where it knows forms, else as choices. */
export async function answerInEditor(
  editor: Editor,
  questions: readonly Question[],
  signal: AbortSignal,
): Promise<Answers> {
  const sessionId = editor.sessionId();
  if (sessionId === null) return null;
  await editor.settled();
  const asking = { editor, sessionId, signal };
  if (editor.abilities.forms) return askForm(asking, questions);
  const answers: Record<string, string> = {};
  for (const question of questions) {
    const answer = await askChoice(asking, question);
    if (answer === null) return null;
    answers[question.question] = answer;
  }
  return answers;
}

interface Asking {
  readonly editor: Editor;
  readonly sessionId: string;
  readonly signal: AbortSignal;
}

async function askForm(
  { editor, sessionId, signal }: Asking,
  questions: readonly Question[],
): Promise<Answers> {
  const properties = Object.fromEntries(questions.map((each, at) => [fieldOf(at), formOf(each)]));
  const response = await editor.client.request(
    methods.client.elicitation.create,
    {
      mode: 'form',
      sessionId,
      toolCallId: editor.askingCall(),
      message: questions.map(({ question }) => question).join('\n'),
      requestedSchema: { type: 'object', properties, required: Object.keys(properties) },
    },
    { cancellationSignal: signal, stopWaitingOnCancel: true },
  );
  if (!CreateElicitationResponse.isAccept(response)) return null;
  const content = response.content ?? {};
  return Object.fromEntries(
    questions.map(({ question }, at): [string, string] => [question, said(content[fieldOf(at)])]),
  );
}

/** Questions are long, and the same one may stand there twice. */
function fieldOf(at: number): string {
  return `answer${at + 1}`;
}

function said(value: ElicitationContentValue | undefined): string {
  return Array.isArray(value) ? value.join(', ') : String(value ?? '');
}

function formOf({ question, header, options, multiSelect }: Question): ElicitationPropertySchema {
  const about = { title: header, description: question };
  const choices = options.map(({ label, description }) => ({
    const: label,
    title: label,
    description,
  }));
  if (choices.length === 0) return { type: 'string', ...about };
  if (multiSelect) return { type: 'array', ...about, items: { anyOf: choices } };
  return { type: 'string', ...about, oneOf: choices };
}

const SKIP = 'skip';

/** Every editor can ask for permission, and what it shows then are a text and buttons. */
async function askChoice(
  { editor, sessionId, signal }: Asking,
  question: Question,
): Promise<string | null> {
  const { options } = question;
  if (options.length === 0) {
    const text = `The agent asks “${question.question}”, and this editor has no form for the answer.`;
    editor.say({ severity: 'warning', text });
    return null;
  }
  const toolCallId = editor.askingCall() ?? `question-${question.header}`;
  const { outcome } = await editor.client.request(
    methods.client.session.requestPermission,
    { sessionId, toolCall: { toolCallId, ...buttonText(question) }, options: buttonsFor(question) },
    { cancellationSignal: signal, stopWaitingOnCancel: true },
  );
  if (outcome.outcome === 'cancelled' || outcome.optionId === SKIP) return null;
  return options[Number(outcome.optionId)]?.label ?? null;
}

function buttonText({ question, options }: Question): Omit<ToolCallUpdate, 'toolCallId'> {
  const described = options.map(({ label, description }) => `- ${label}: ${description}`);
  const content = [textContent([question, ...described].join('\n'))];
  return { title: question, kind: 'think', status: 'pending', content };
}

function buttonsFor({ options }: Question): PermissionOption[] {
  return [
    ...options.map(({ label }, at) => ({
      optionId: String(at),
      kind: 'allow_once' as const,
      name: label,
    })),
    { optionId: SKIP, kind: 'reject_once', name: 'Do not answer' },
  ];
}
