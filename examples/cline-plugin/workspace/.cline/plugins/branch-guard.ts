import type { AgentPlugin } from '@cline/core';

let branch: string | undefined;

/** Nobody pushes from the main branch; everything else goes on. */
const plugin: AgentPlugin = {
  name: 'branch-guard',
  manifest: { capabilities: ['hooks'] },
  setup(_api, ctx) {
    branch = ctx.workspaceInfo?.latestGitBranchName;
  },
  hooks: {
    beforeTool({ toolCall, input }) {
      if (toolCall.toolName !== 'run_commands' || branch !== 'main') return undefined;
      const { commands = [] } = input as { commands?: string[] };
      const isPush = commands.some((command) => command.startsWith('git push'));
      return isPush ? { skip: true, reason: 'Nobody pushes from main' } : undefined;
    },
  },
};

export default plugin;
