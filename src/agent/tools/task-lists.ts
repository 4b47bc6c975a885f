import { dropUndefined } from '../../base/defined.ts';
import { defineTool } from './define-tool.ts';
import { createFailedOutput, type ToolOutput } from './tool.ts';
import type { TaskItem, TaskItemChange, TaskRefusal, Todo } from './tool-context.ts';
import type { InputFields } from './input-fields.ts';

export const taskCreateTool = defineTool({
  name: 'TaskCreate',
  description:
    'Adds an item to the list of tasks of this session, with the status pending. Returns its id, which ' +
    'TaskUpdate needs.',
  kind: 'plan',
  schema: {
    type: 'object',
    properties: {
      subject: { type: 'string', description: 'What is to be done, in a few words' },
      description: { type: 'string', description: 'What exactly, and when it counts as done' },
    },
    required: ['subject', 'description'],
    additionalProperties: false,
  },
  parse: (fields) => ({
    subject: fields.requiredText('subject'),
    description: fields.optionalText('description') ?? '',
  }),
  check: (_input, context) =>
    context.ports.taskItems === undefined ? 'This agent has no list of tasks.' : null,
  toHookInput: (input) => ({ ...input }),
  async run(input, context, { signal }) {
    const item = await context.ports.taskItems?.create(input, signal);
    if (item === undefined) return createFailedOutput('This agent has no list of tasks.');
    if ('reason' in item) {
      const { reason, refusedByHook } = item;
      return { ...createFailedOutput(reason), ...dropUndefined({ refusedByHook }) };
    }
    const { id, subject, description } = item;
    return {
      response: { task: { id, subject, description } },
      text: `Task #${id} created: ${subject}`,
      success: true,
    };
  },
});

const TASK_STATUSES = ['pending', 'in_progress', 'completed', 'deleted'] as const;

export const taskUpdateTool = defineTool({
  name: 'TaskUpdate',
  description:
    'Changes an item of the list of tasks: its status, subject or description. Set in_progress when you ' +
    'begin it and completed only when it is wholly done. The status deleted takes it off the list.',
  kind: 'plan',
  schema: {
    type: 'object',
    properties: {
      taskId: { type: 'string', description: 'As TaskCreate returned it' },
      status: { type: 'string', enum: TASK_STATUSES },
      subject: { type: 'string' },
      description: { type: 'string' },
    },
    required: ['taskId'],
    additionalProperties: false,
  },
  parse(fields) {
    const status = fields.optionalOneOf('status', TASK_STATUSES);
    const subject = fields.optionalText('subject');
    const description = fields.optionalText('description');
    return {
      taskId: fields.requiredText('taskId'),
      change: dropUndefined({
        status: status ?? undefined,
        subject: subject ?? undefined,
        description: description ?? undefined,
      }),
    };
  },
  check: (_input, context) =>
    context.ports.taskItems === undefined ? 'This agent has no list of tasks.' : null,
  toHookInput: ({ taskId, change }) => ({ taskId, ...change }),
  async run({ taskId, change }, context, { signal }) {
    const items = context.ports.taskItems;
    if (items === undefined) return createFailedOutput('This agent has no list of tasks.');
    const before = items.find(taskId);
    if (before === null) {
      return createRefusedOutput(taskId, { reason: `There is no task #${taskId}.` });
    }
    const after = await items.update(taskId, change, signal);
    return 'reason' in after
      ? createRefusedOutput(taskId, after)
      : createUpdatedOutput(before, change);
  },
});

/** Claude Code returns a refused change as a successful output. */
function createRefusedOutput(taskId: string, refusal: TaskRefusal): ToolOutput {
  const { reason: error, refusedByHook } = refusal;
  const response = { success: false, taskId, updatedFields: [], error };
  return { response, text: error, success: true, ...dropUndefined({ refusedByHook }) };
}

function createUpdatedOutput(before: TaskItem, change: TaskItemChange): ToolOutput {
  const { id } = before;
  const updatedFields = (['subject', 'description', 'status'] as const).filter(
    (field) => change[field] !== undefined && change[field] !== before[field],
  );
  const { status } = change;
  const statusChange =
    status === undefined || status === before.status
      ? undefined
      : { from: before.status, to: status };
  return {
    response: {
      success: true,
      taskId: id,
      updatedFields,
      ...dropUndefined({ statusChange }),
    },
    text:
      updatedFields.length === 0
        ? `Task #${id} is as it was.`
        : `Task #${id} updated: ${updatedFields.join(', ')}`,
    success: true,
  };
}

const TODO_STATUSES = ['pending', 'in_progress', 'completed'] as const;
const MAX_TODOS = 200;

export const todoWriteTool = defineTool({
  name: 'TodoWrite',
  description:
    'Writes down the steps of the work, so that none is forgotten and the user sees where it stands. ' +
    'Use it for work of three or more steps. Give the whole list each time. Have one step in_progress ' +
    'at a time, and mark a step completed as soon as it is done, not before.',
  kind: 'plan',
  schema: {
    type: 'object',
    properties: {
      todos: {
        type: 'array',
        maxItems: MAX_TODOS,
        items: {
          type: 'object',
          properties: {
            content: { type: 'string', description: 'What is to be done: "Run the tests"' },
            status: { type: 'string', enum: TODO_STATUSES },
            activeForm: { type: 'string', description: 'While it is done: "Running the tests"' },
          },
          required: ['content', 'status', 'activeForm'],
          additionalProperties: false,
        },
      },
    },
    required: ['todos'],
    additionalProperties: false,
  },
  parse(fields) {
    const todos = fields.list('todos', parseTodo);
    if (todos.length > MAX_TODOS) fields.reject('todos', `a list of at most ${MAX_TODOS}`);
    return todos;
  },
  toHookInput: (todos) => ({ todos }),
  async run(newTodos, context) {
    const { todos: oldTodos } = context;
    context.todos = newTodos;
    return { response: { oldTodos, newTodos }, text: formatTodos(newTodos), success: true };
  },
});

function parseTodo(fields: InputFields): Todo {
  const content = fields.requiredText('content');
  return {
    content,
    status: fields.oneOf('status', TODO_STATUSES),
    activeForm: fields.optionalText('activeForm') ?? content,
  };
}

const MARKS = { pending: ' ', in_progress: '>', completed: 'x' };

function formatTodos(todos: readonly Todo[]): string {
  if (todos.length === 0) return 'The list is empty now.';
  const lines = todos.map(({ content, status }) => `[${MARKS[status]}] ${content}`);
  return ['The list is now:', ...lines].join('\n');
}
