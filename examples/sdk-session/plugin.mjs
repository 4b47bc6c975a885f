// A plugin as one writes it for Cline; with `@cline/core` in the place of `hookline` it runs there, too.
import { createTool } from 'hookline';

let root;

export default {
  name: 'shopping',
  manifest: { capabilities: ['tools', 'hooks', 'rules', 'messageBuilders'] },
  setup(api, ctx) {
    root = ctx.workspaceInfo?.rootPath;
    api.registerTool(
      createTool({
        name: 'price_of',
        description: 'Looks up what something costs.',
        inputSchema: {
          type: 'object',
          properties: { thing: { type: 'string' } },
          required: ['thing'],
        },
        async execute({ thing }) {
          return { thing, cents: thing.length * 50 };
        },
      }),
    );
    api.registerRule({ id: 'cents', content: 'Prices are in cents.' });
    api.registerMessageBuilder({
      name: 'no-card-numbers',
      build: (messages) =>
        JSON.parse(JSON.stringify(messages).replaceAll(/\d{4}-\d{4}-\d{4}-\d{4}/g, '[card]')),
    });
  },
  hooks: {
    beforeTool({ toolCall, input }) {
      if (toolCall.toolName !== 'run_commands') return undefined;
      const isPush = input.commands.some((command) => command.startsWith('git push'));
      return isPush ? { skip: true, reason: 'this branch is protected' } : undefined;
    },
    afterRun({ result }) {
      console.log(`[shopping] ${result.status} after ${result.iterations} turns in ${root !== undefined ? 'the workspace' : 'nowhere'}`);
    },
  },
};
