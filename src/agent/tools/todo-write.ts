import { defineTool } from './define-tool.ts';
import type { InputFields } from './input-fields.ts';
import type { ToolContext } from './tool-context.ts';

interface Todo {
  readonly content: string;
  readonly status: (typeof STATUSES)[number];
  /** The present-continuous form: `Running the tests`. */
  readonly activeForm: string;
}

const STATUSES = ['pending', 'in_progress', 'completed'] as const;
const MAX_TODOS = 200;

/** The todo list of each agent. */
const TODO_LISTS = new WeakMap<ToolContext, readonly Todo[]>();

export const todoWriteTool = defineTool<readonly Todo[]>({
  name: 'TodoWrite',
  description:
    'Writes down the steps of the work, so that none is forgotten and the person sees where it stands. ' +
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
            status: { type: 'string', enum: STATUSES },
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
  read(fields) {
    const todos = fields.list('todos', parseTodo);
    if (todos.length > MAX_TODOS) fields.reject('todos', `a list of at most ${MAX_TODOS}`);
    return todos;
  },
  toHookInput: (todos) => ({ todos }),
  async run(newTodos, context) {
    const oldTodos = TODO_LISTS.get(context) ?? [];
    TODO_LISTS.set(context, newTodos);
    return { response: { oldTodos, newTodos }, text: formatTodos(newTodos), success: true };
  },
});

function parseTodo(fields: InputFields): Todo {
  const content = fields.requiredText('content');
  return {
    content,
    status: fields.oneOf('status', STATUSES),
    activeForm: fields.optionalText('activeForm') ?? content,
  };
}

const MARKS = { pending: ' ', in_progress: '>', completed: 'x' };

function formatTodos(todos: readonly Todo[]): string {
  if (todos.length === 0) return 'The list is empty now.';
  const lines = todos.map(({ content, status }) => `[${MARKS[status]}] ${content}`);
  return ['The list is now:', ...lines].join('\n');
}
