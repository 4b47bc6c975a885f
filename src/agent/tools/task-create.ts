import { defineTool } from './define-tool.ts';
import { failedOutput } from './tool.ts';

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
  read: (given) => ({
    subject: given.filledText('subject'),
    description: given.optionalText('description') ?? '',
  }),
  check: (_input, bench) =>
    bench.ports.taskItems === undefined ? 'This agent has no list of tasks.' : null,
  toHookInput: (input) => ({ ...input }),
  async run(input, bench, { signal }) {
    const made = await bench.ports.taskItems?.create(input, signal);
    if (made === undefined) return failedOutput('This agent has no list of tasks.');
    if (typeof made === 'string') return failedOutput(made);
    const { id, subject, description } = made;
    return {
      response: { task: { id, subject, description } },
      text: `Task #${id} created: ${subject}`,
      success: true,
    };
  },
});
