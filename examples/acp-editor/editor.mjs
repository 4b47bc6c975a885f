// The smallest editor: it starts the agent, sends one prompt, and answers what it is asked.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { client, methods, ndJsonStream } from '@agentclientprotocol/sdk';

const [directory, command = 'hookline', ...args] = process.argv.slice(2);
const workspace = path.resolve(directory);
const agent = spawn(command, args.length === 0 ? ['acp'] : args, {
  stdio: ['pipe', 'pipe', 'inherit'],
});

/** The person of this story agrees to every change that they are shown. */
function approve({ toolCall, options }) {
  const diff = toolCall.content.find(({ type }) => type === 'diff');
  console.log(`asked: ${toolCall.title}: ${diff.oldText ?? '(nothing)'} → ${diff.newText}`);
  console.log(`  choices: ${options.map(({ name }) => name).join(', ')}`);
  return { outcome: { outcome: 'selected', optionId: 'allow' } };
}

function show({ update }) {
  if (update.sessionUpdate === 'agent_message_chunk') process.stdout.write(update.content.text);
  if (update.sessionUpdate === 'tool_call') console.log(`call: ${update.title}`);
  if (update.sessionUpdate !== 'tool_call_update' || update.status === 'in_progress') return;
  console.log(`  ${update.status}${update.status === 'failed' ? `: ${update.rawOutput}` : ''}`);
}

await client({ name: 'the smallest editor' })
  .onRequest(methods.client.session.requestPermission, ({ params }) => approve(params))
  .onNotification(methods.client.session.update, ({ params }) => show(params))
  .connectWith(
    ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout)),
    async (editor) => {
      await editor.request(methods.agent.initialize, { protocolVersion: 1 });
      const { sessionId, modes } = await editor.request(methods.agent.session.new, {
        cwd: workspace,
        mcpServers: [],
      });
      console.log(`modes: ${modes.availableModes.map(({ id }) => id).join(', ')}`);
      const { stopReason } = await editor.request(methods.agent.session.prompt, {
        sessionId,
        prompt: [{ type: 'text', text: 'Set the service up' }],
      });
      console.log(`\n${stopReason}`);
    },
  );
agent.stdin.end();
