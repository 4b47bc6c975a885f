// A script as one writes it for Cline's SDK. Its model is scripted; everything else is real.
import path from 'node:path';
import { ClineCore } from 'hookline';
import plugin from './plugin.mjs';

const cwd = path.resolve(process.argv[2]);
const script = [
  { tools: [{ name: 'read_files', input: { files: [{ path: 'notes.txt' }] } }] },
  { tools: [{ name: 'price_of', input: { thing: 'milk' } }, { name: 'price_of', input: {} }] },
  { tools: [{ name: 'run_commands', input: { commands: ['git push'] } }] },
  { text: 'Milk is 200 cents.' },
  { text: 'You are welcome.' },
];

const core = await ClineCore.create({ clientName: 'sdk-session' });
core.subscribe(({ type, payload }) => {
  if (type !== 'agent_event') return;
  const { event } = payload;
  if (event.type === 'content_end' && event.contentType === 'tool') {
    console.log(`${event.toolName}: ${event.error ?? JSON.stringify(event.output)}`);
  }
});
const { sessionId, result } = await core.start({
  config: {
    // With a real model: providerId 'anthropic', modelId and apiKey.
    providerId: 'scripted',
    modelId: 'scripted',
    script,
    cwd,
    systemPrompt: 'You help with shopping.',
    extensions: [plugin],
  },
  prompt: 'What does milk cost? My card is 1234-1234-1234-1234.',
  interactive: true,
});
console.log(`${result.finishReason}: ${result.text}`);
const thanks = await core.send({ sessionId, prompt: 'Thank you.' });
console.log(`${thanks.finishReason}: ${thanks.text}`);
console.log(`stored: ${(await core.readMessages(sessionId)).length} messages`);
await core.dispose();
