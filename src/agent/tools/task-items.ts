import { defineTool } from './define-tool.ts';
import { createFailedOutput, type ToolOutput } from './tool.ts';
import type { TaskItem, TaskItemChange } from './tool-context.ts';

export const taskCreateTool = defineTool<{ subject: string; description: string }>({
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
  read: (fields) => ({
    subject: fields.requiredText('subject'),
    description: fields.optionalText('description') ?? '',
  }),
  check: (_input, context) =>
    context.ports.taskItems === undefined ? 'This agent has no list of tasks.' : null,
  toHookInput: (input) => ({ ...input }),
  async run(input, context, { signal }) {
    const made = await context.ports.taskItems?.create(input, signal);
    if (made === undefined) return createFailedOutput('This agent has no list of tasks.');
    if (typeof made === 'string') return createFailedOutput(made);
    const { id, subject, description } = made;
    return {
      response: { task: { id, subject, description } },
      text: `Task #${id} created: ${subject}`,
      success: true,
    };
  },
});

interface TaskUpdate {
  readonly taskId: string;
  readonly change: TaskItemChange;
}

const STATUSES = ['pending', 'in_progress', 'completed', 'deleted'] as const;

export const taskUpdateTool = defineTool<TaskUpdate>({
  name: 'TaskUpdate',
  description:
    'Changes an item of the list of tasks: its status, subject or description. Set in_progress when you ' +
    'begin it and completed only when it is wholly done. The status deleted takes it off the list.',
  kind: 'plan',
  schema: {
    type: 'object',
    properties: {
      taskId: { type: 'string', description: 'As TaskCreate returned it' },
      status: { type: 'string', enum: STATUSES },
      subject: { type: 'string' },
      description: { type: 'string' },
    },
    required: ['taskId'],
    additionalProperties: false,
  },
  read(fields) {
    const status = fields.optionalOneOf('status', STATUSES);
    const subject = fields.optionalText('subject');
    const description = fields.optionalText('description');
    return {
      taskId: fields.requiredText('taskId'),
      change: {
        ...(status === null ? {} : { status }),
        ...(subject === null ? {} : { subject }),
        ...(description === null ? {} : { description }),
      },
    };
  },
  check: (_input, context) =>
    context.ports.taskItems === undefined ? 'This agent has no list of tasks.' : null,
  toHookInput: ({ taskId, change }) => ({ taskId, ...change }),
  async run({ taskId, change }, context, { signal }) {
    const items = context.ports.taskItems;
    if (items === undefined) return createFailedOutput('This agent has no list of tasks.');
    const before = items.find(taskId);
    if (before === null) return createRefusedOutput(taskId, `There is no task #${taskId}.`);
    const after = await items.update(taskId, change, signal);
    return typeof after === 'string'
      ? createRefusedOutput(taskId, after)
      : createUpdatedOutput(before, change);
  },
});

/** Claude Code returns a refused change as a successful output. */
function createRefusedOutput(taskId: string, error: string): ToolOutput {
  const response = { success: false, taskId, updatedFields: [], error };
  return { response, text: error, success: true };
}

function createUpdatedOutput(before: TaskItem, change: TaskItemChange): ToolOutput {
  const { id } = before;
  const updatedFields = (['subject', 'description', 'status'] as const).filter(
    (field) => change[field] !== undefined && change[field] !== before[field],
  );
  const { status } = change;
  const statusChange =
    status === undefined || status === before.status ? null : { from: before.status, to: status };
  return {
    response: {
      success: true,
      taskId: id,
      updatedFields,
      ...(statusChange === null ? {} : { statusChange }),
    },
    text:
      updatedFields.length === 0
        ? `Task #${id} is as it was.`
        : `Task #${id} updated: ${updatedFields.join(', ')}`,
    success: true,
  };
}
