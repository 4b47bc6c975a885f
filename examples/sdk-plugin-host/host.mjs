// A host for plugins: one written here, and one from a file of its own.
import path from 'node:path';
import { ClineCore, createTool } from 'hookline';
import greeter from './greeter.mjs';

const [cwd] = process.argv.slice(2);
const clock = {
  name: 'clock',
  manifest: { capabilities: ['tools', 'hooks'] },
  setup(api, ctx) {
    api.registerTool(
      createTool({
        name: 'what_day',
        description: 'Returns the day.',
        inputSchema: { type: 'object', properties: {} },
        execute: async () => ({ day: 'Monday', in: path.basename(ctx.workspaceInfo?.rootPath ?? '') }),
      }),
    );
  },
  hooks: {
    afterRun: ({ result }) => console.log(`[clock] ${result.status} after ${result.iterations} turns`),
  },
};

const core = await ClineCore.create({ clientName: 'plugin-host', backendMode: 'local' });
core.subscribe(({ type, payload }) => {
  const { event } = payload;
  if (type !== 'agent_event' || event.type !== 'content_end' || event.contentType !== 'tool') return;
  console.log(`${event.toolName}: ${event.error ?? JSON.stringify(event.output)}`);
});
const { result } = await core.start({
  config: {
    // With @cline/core: providerId: 'anthropic', modelId: 'claude-sonnet-4-6', apiKey.
    providerId: 'scripted',
    modelId: 'scripted',
    script: [
      { tools: [{ name: 'what_day', input: {} }, { name: 'greet', input: { name: 'Ada' } }] },
      { tools: [{ name: 'run_commands', input: { commands: ['git push'] } }] },
      { text: 'It is Monday.' },
    ],
    systemPrompt: 'You are a helpful assistant.',
    cwd,
    enableTools: true,
    enableSpawnAgent: false,
    enableAgentTeams: false,
    extensions: [clock, greeter],
    extensionContext: { workspace: { rootPath: cwd, cwd } },
  },
  prompt: 'Which day is it?',
  interactive: false,
});
console.log(`${result.finishReason}: ${result.text}`);
await core.dispose();
