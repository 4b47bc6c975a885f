// An agent with guards in three formats. Its model is scripted; everything else is real.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createHost } from 'hookline';

const workspace = path.resolve(process.argv[2]);

/** A hook of the agent's own, in process: tells the model about every prompt what holds here. */
const conventions = {
  id: 'mine:conventions',
  dialect: 'mine',
  source: 'agent.mjs',
  event: 'UserPromptSubmit',
  vocabulary: 'claude',
  onFailure: 'open',
  run: () => ({ decision: { effect: 'pass', context: 'Answers are numbers.' } }),
};

const homecoming = {
  ...conventions,
  id: 'mine:homecoming',
  event: 'TaskResume',
  run: ({ event }) => void console.log(`resumed with ${event.messageCount} messages`),
};

await anotherDay(await task());

async function task() {
  const host = await openHost([
    { tools: [{ name: 'Write', input: { file_path: 'answer.js', content: 'done' } }] },
    { tools: [{ name: 'Write', input: { file_path: 'answer.ts', content: 'export default 42;' } }] },
    { text: 'I wrote answer.ts.' },
  ]);
  const { sessionId, transcriptPath, result } = await host.start({ prompt: 'Write the answer' });
  await host.dispose();
  console.log(`${result.ending}: ${result.text}`);
  for (const { tool, reason } of result.denials) console.log(`denied: ${tool}: ${reason}`);
  console.log(`answer.ts holds ${JSON.stringify(read('answer.ts'))}`);
  console.log(`the model was told: ${remindersIn(transcriptPath).join(' | ')}`);
  return sessionId;
}

/** Another host, as in another process: what was said is in the session. */
async function anotherDay(sessionId) {
  const host = await openHost([{ text: 'It is 42.' }]);
  const { result } = await host.start({ resume: sessionId, prompt: 'What was it?' });
  await host.dispose();
  console.log(`${result.ending}: ${result.text}`);
}

function openHost(script) {
  return createHost({
    cwd: workspace,
    roots: [workspace],
    // The person who runs this example is its author, so all hooks may run.
    trust: 'all',
    model: { script },
    permissionMode: 'acceptEdits',
    sources: [{ handlers: () => [conventions, homecoming] }],
  });
}

function read(file) {
  return readFileSync(path.join(workspace, file), 'utf8');
}

/** What hooks said stands in the conversation, with their names. */
function remindersIn(transcript) {
  const lines = readFileSync(transcript, 'utf8').trim().split('\n');
  return lines
    .map((line) => JSON.parse(line))
    .filter(({ isMeta }) => isMeta)
    .map(({ message }) => message.content.replaceAll(/<\/?system-reminder>|\n/g, ' ').trim());
}
