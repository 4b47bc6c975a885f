import { createTool } from 'hookline';

export default {
  name: 'greeter',
  manifest: { capabilities: ['tools', 'hooks'] },
  setup(api) {
    api.registerTool(
      createTool({
        name: 'greet',
        description: 'Greets a person.',
        inputSchema: {
          type: 'object',
          properties: { name: { type: 'string' } },
          required: ['name'],
        },
        execute: async ({ name }) => `Hello, ${name}!`,
      }),
    );
  },
  hooks: {
    beforeTool({ toolCall, input }) {
      const isPush =
        toolCall.toolName === 'run_commands' && JSON.stringify(input).includes('git push');
      return isPush ? { skip: true, reason: 'pushing is for people' } : undefined;
    },
  },
};
