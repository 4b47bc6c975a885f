import {
  CreateElicitationResponse,
  type ElicitationContentValue,
  type ElicitationPropertySchema,
  methods,
  type PermissionOption,
  type ToolCallUpdate,
  type CreateElicitationRequest,
} from '@agentclientprotocol/sdk';
import type {
  Person,
  Approval,
  ApprovalRequest,
  ElicitationAnswer,
  ElicitationRequest,
} from '../agent/session-context.ts';
import type { Question } from '../agent/tools/tool-context.ts';
import { toTextContent, describeCall } from './updates/tool-call.ts';
import type * as acp from '@agentclientprotocol/sdk';
import type { EditorCapabilities } from './capabilities.ts';
import type { Notice } from './updates/runtime-updates.ts';
import type { Redact } from './updates/redact-updates.ts';
import type { PermissionRuleText, PermissionUpdate } from '../permissions/permissions.ts';
import { randomUUID } from 'node:crypto';

/** The editor, as one session sends to it. */
export interface Editor {
  readonly client: acp.AgentContext;
  readonly capabilities: EditorCapabilities;
  /** Null until the editor knows the session: nothing can be asked before. */
  readonly sessionId: () => string | null;
  readonly cwd: () => string;
  readonly sendUpdate: (update: acp.SessionUpdate) => void;
  readonly sendNotice: (notice: Notice) => void;
  /** Settles when all updates were sent. */
  readonly settled: () => Promise<void>;
  readonly redact: Redact;
}

type Answers = Awaited<ReturnType<Person['answer']>>;

/** Asks the agent's questions in the editor: as one form where it supports forms, else as permission requests. */
export async function askQuestions(
  editor: Editor,
  questions: readonly Question[],
  signal: AbortSignal,
  callId: string | null,
): Promise<Answers> {
  const sessionId = editor.sessionId();
  if (sessionId === null) return null;
  await editor.settled();
  if (editor.capabilities.forms) return askForm(editor, sessionId, questions, signal, callId);
  const answers: Record<string, string> = {};
  for (const question of questions) {
    const answer = await askChoice(editor, sessionId, question, signal, callId);
    if (answer === null) return null;
    answers[question.question] = answer;
  }
  return answers;
}

async function askForm(
  editor: Editor,
  sessionId: string,
  questions: readonly Question[],
  signal: AbortSignal,
  toolCallId: string | null,
): Promise<Answers> {
  const properties = Object.fromEntries(
    questions.map((each, at) => [formatFieldName(at), toFormField(each)]),
  );
  const response = await editor.client.request(
    methods.client.elicitation.create,
    {
      mode: 'form',
      sessionId,
      toolCallId,
      message: questions.map(({ question }) => question).join('\n'),
      requestedSchema: { type: 'object', properties, required: Object.keys(properties) },
    },
    { cancellationSignal: signal, stopWaitingOnCancel: true },
  );
  if (!CreateElicitationResponse.isAccept(response)) return null;
  const content = response.content ?? {};
  return Object.fromEntries(
    questions.map(({ question }, at): [string, string] => [
      question,
      formatAnswer(content[formatFieldName(at)]),
    ]),
  );
}

/** Numbered, because questions are long and may be repeated. */
function formatFieldName(at: number): string {
  return `answer${at + 1}`;
}

function formatAnswer(value: ElicitationContentValue | undefined): string {
  return Array.isArray(value) ? value.join(', ') : String(value ?? '');
}

function toFormField({
  question,
  header,
  options,
  multiSelect,
}: Question): ElicitationPropertySchema {
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

/** A permission request, because every editor shows it as a text with buttons. */
async function askChoice(
  editor: Editor,
  sessionId: string,
  question: Question,
  signal: AbortSignal,
  callId: string | null,
): Promise<string | null> {
  const { options } = question;
  if (options.length === 0) {
    const text = `The agent asks “${question.question}”, and this editor has no form for the answer.`;
    editor.sendNotice({ severity: 'warning', text });
    return null;
  }
  const toolCallId = callId ?? `question-${question.header}`;
  const { outcome } = await editor.client.request(
    methods.client.session.requestPermission,
    {
      sessionId,
      toolCall: { toolCallId, ...describeButtons(question) },
      options: listButtons(question),
    },
    { cancellationSignal: signal, stopWaitingOnCancel: true },
  );
  if (outcome.outcome === 'cancelled' || outcome.optionId === SKIP) return null;
  return options[Number(outcome.optionId)]?.label ?? null;
}

function describeButtons({ question, options }: Question): Omit<ToolCallUpdate, 'toolCallId'> {
  const described = options.map(({ label, description }) => `- ${label}: ${description}`);
  const content = [toTextContent([question, ...described].join('\n'))];
  return { title: question, kind: 'think', status: 'pending', content };
}

function listButtons({ options }: Question): PermissionOption[] {
  return [
    ...options.map(({ label }, at) => ({
      optionId: String(at),
      kind: 'allow_once' as const,
      name: label,
    })),
    { optionId: SKIP, kind: 'reject_once', name: 'Skip' },
  ];
}

/** Asks in the editor whether a call may run, with its diff or its command. */
export async function requestEditorApproval(
  editor: Editor,
  request: ApprovalRequest,
  signal: AbortSignal,
): Promise<Approval> {
  const sessionId = editor.sessionId();
  if (sessionId === null) return { isAllowed: false, reason: '(the session is not open yet)' };
  const { reason } = await editor.redact({ reason: request.reason });
  // The editor must know the call before it is asked about it.
  await editor.settled();
  const toolCall = toToolCall({ ...request, reason }, editor.cwd());
  const { outcome } = await editor.client.request(
    methods.client.session.requestPermission,
    { sessionId, toolCall, options: listPermissionOptions(request) },
    { cancellationSignal: signal, stopWaitingOnCancel: true },
  );
  if (outcome.outcome === 'cancelled') return { isAllowed: false };
  if (outcome.optionId !== ALLOW && outcome.optionId !== ALWAYS) return { isAllowed: false };
  editor.sendUpdate({
    sessionUpdate: 'tool_call_update',
    toolCallId: request.callId,
    status: 'in_progress',
  });
  const updates = outcome.optionId === ALWAYS ? request.suggestions : [];
  return { isAllowed: true, updates };
}

function toToolCall({ callId, tool, input, reason }: ApprovalRequest, cwd: string): ToolCallUpdate {
  const call = describeCall({ tool, input, cwd });
  const content = [...call.content, toTextContent(reason)];
  return { toolCallId: callId, status: 'pending', ...call, content };
}

const ALLOW = 'allow';
const ALWAYS = 'allow-always';

function listPermissionOptions({ suggestions }: ApprovalRequest): PermissionOption[] {
  const always = suggestions.map(describePermissionUpdate).filter((text) => text !== null);
  return [
    { optionId: ALLOW, kind: 'allow_once', name: 'Allow' },
    ...(always.length === 0
      ? []
      : [{ optionId: ALWAYS, kind: 'allow_always' as const, name: always.join('; ') }]),
    { optionId: 'reject', kind: 'reject_once', name: 'Reject' },
  ];
}

/** What accepting a suggestion allows for the rest of the session. */
function describePermissionUpdate(update: PermissionUpdate): string | null {
  switch (update.type) {
    case 'addRules':
      return `Always allow ${update.rules.map(formatRule).join(', ')}`;
    case 'setMode':
      return update.mode === 'acceptEdits' ? 'Allow all edits' : `Go on in mode ${update.mode}`;
    case 'addDirectories':
      return `Always allow work in ${update.directories.join(', ')}`;
    default:
      return null;
  }
}

function formatRule({ toolName, ruleContent }: PermissionRuleText): string {
  return ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`;
}

/** Asks in the editor what an MCP server wants to know; an editor that cannot declines, with a warning. */
export async function requestElicitation(
  editor: Editor,
  request: ElicitationRequest,
  signal: AbortSignal,
): Promise<ElicitationAnswer> {
  const { capabilities, client } = editor;
  const sessionId = editor.sessionId();
  const isAble = request.mode === 'url' ? capabilities.pages : capabilities.forms;
  if (sessionId === null || !isAble) {
    const text = `The server ${request.server} asks “${request.message}”; this editor cannot show it, so it is declined.`;
    editor.sendNotice({ severity: 'warning', text });
    return { action: 'decline' };
  }
  await editor.settled();
  const response = await client.request(
    methods.client.elicitation.create,
    toElicitationRequest(request, sessionId),
    { cancellationSignal: signal, stopWaitingOnCancel: true },
  );
  if (CreateElicitationResponse.isAccept(response)) {
    return { action: 'accept', content: response.content ?? {} };
  }
  return { action: response.action === 'cancel' ? 'cancel' : 'decline' };
}

function toElicitationRequest(
  { server, message, mode, schema, url }: ElicitationRequest,
  sessionId: string,
): CreateElicitationRequest {
  const text = `${server}: ${message}`;
  if (mode === 'url') {
    return { mode, sessionId, message: text, elicitationId: randomUUID(), url: url ?? '' };
  }
  // The editor checks the server's schema.
  return { mode, sessionId, message: text, requestedSchema: { type: 'object', ...schema } };
}
