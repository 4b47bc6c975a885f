// A host with several sessions at once: one core, one subscription, a conversation for each user.
import { ClineCore } from 'hookline';

const [cwd] = process.argv.slice(2);
const core = await ClineCore.create({ clientName: 'chat-server', backendMode: 'local' });
const users = new Map();

core.subscribe(({ type, payload }) => {
  if (type !== 'agent_event' || payload.event.type !== 'done') return;
  const { name, answers } = users.get(payload.sessionId);
  answers.push(`${name}: ${payload.event.text}`);
});

async function open(name, answers) {
  const { sessionId } = await core.start({
    config: {
      // With @cline/core: providerId: 'anthropic', modelId: 'claude-sonnet-4-6', apiKey.
      providerId: 'scripted',
      modelId: 'scripted',
      script: answers.map((text) => ({ text })),
      systemPrompt: `You talk to ${name}.`,
      cwd,
      enableTools: false,
      enableSpawnAgent: false,
      enableAgentTeams: false,
    },
    interactive: true,
  });
  users.set(sessionId, { name, answers: [] });
  return sessionId;
}

const ada = await open('Ada', ['Hello, Ada.', 'Still here, Ada.']);
const bob = await open('Bob', ['Hello, Bob.']);
await Promise.all([
  core.send({ sessionId: ada, prompt: 'Hi' }),
  core.send({ sessionId: bob, prompt: 'Hi' }),
]);
await core.send({ sessionId: ada, prompt: 'Are you there?' });

for (const { answers } of users.values()) console.log(answers.join('\n'));
console.log('messages:', (await core.readMessages(ada)).length, (await core.readMessages(bob)).length);
await core.stop(bob);
const error = await core.send({ sessionId: bob, prompt: 'Hi again' }).catch((reason) => reason);
console.log('after stop:', error.code);
await core.dispose();
