import { defineTool } from './define-tool.ts';
import { failedOutput, type ToolOutput } from './tool.ts';
import type { TaskItem, TaskItemChange } from './workbench.ts';

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
  read(given) {
    const status = given.optionalOneOf('status', STATUSES);
    const subject = given.optionalText('subject');
    const description = given.optionalText('description');
    return {
      taskId: given.filledText('taskId'),
      change: {
        ...(status === null ? {} : { status }),
        ...(subject === null ? {} : { subject }),
        ...(description === null ? {} : { description }),
      },
    };
  },
  check: (_input, bench) =>
    bench.ports.taskItems === undefined ? 'This agent has no list of tasks.' : null,
  toHookInput: ({ taskId, change }) => ({ taskId, ...change }),
  async run({ taskId, change }, bench, { signal }) {
    const items = bench.ports.taskItems;
    if (items === undefined) return failedOutput('This agent has no list of tasks.');
    const before = items.find(taskId);
    if (before === null) return refused(taskId, `There is no task #${taskId}.`);
    const after = await items.update(taskId, change, signal);
    return typeof after === 'string' ? refused(taskId, after) : updated(before, change);
  },
});

/** In Claude's form a refused change is an answer like any other. */
function refused(taskId: string, error: string): ToolOutput {
  const response = { success: false, taskId, updatedFields: [], error };
  return { response, text: error, success: true };
}

function updated(before: TaskItem, change: TaskItemChange): ToolOutput {
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
