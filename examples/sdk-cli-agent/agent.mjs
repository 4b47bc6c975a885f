// A small command-line agent: everything it prints comes from `subscribe`.
import { stdout } from 'node:process';
import { ClineCore } from 'hookline';

const [cwd, ...words] = process.argv.slice(2);
const core = await ClineCore.create({ clientName: 'cli-agent', backendMode: 'local' });

core.subscribe(({ type, payload }) => {
  if (type === 'ended') return console.log(`[ended: ${payload.reason}]`);
  if (type === 'agent_event') print(payload.event);
});

function print(event) {
  switch (event.type) {
    case 'content_start':
      if (event.contentType === 'text') stdout.write(event.text);
      if (event.contentType === 'tool') stdout.write(`\n> ${event.toolName} ${JSON.stringify(event.input)}\n`);
      break;
    case 'content_end':
      if (event.contentType === 'tool') stdout.write(`< ${event.error ?? JSON.stringify(event.output)}\n`);
      break;
    case 'done':
      stdout.write(`\n[${event.reason} after ${event.iterations} turns]\n`);
      break;
    case 'error':
      stdout.write(`\n[error: ${event.error.message}]\n`);
  }
}

await core.start({
  config: {
    // With @cline/core: providerId: 'anthropic', modelId: 'claude-sonnet-4-6', apiKey.
    providerId: 'scripted',
    modelId: 'scripted',
    script: [
      { text: 'Let me look.', tools: [{ name: 'run_commands', input: { commands: ['cat list.txt'] } }] },
      { text: 'Two things are on the list.' },
    ],
    systemPrompt: 'You are a helpful assistant.',
    cwd,
    enableTools: true,
    enableSpawnAgent: false,
    enableAgentTeams: false,
  },
  prompt: words.join(' '),
  interactive: false,
});
await core.dispose();
