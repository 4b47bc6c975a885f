// An agent's turn, seen from its hook points. Nothing here knows which format a hook is written in.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { claudeHooks, clineFiles, createHookEngine } from 'hookline/hooks';

const [workspace, plugin] = process.argv.slice(2);
// The person who runs this example is its author, so everything may run.
const search = { roots: [workspace], trust: 'all' };
const engine = createHookEngine({
  sources: [claudeHooks({ ...search, pluginDirectories: [plugin] }), clineFiles(search)],
});

await fire('a prompt', { name: 'UserPromptSubmit', prompt: 'Please add a test' });
await fire('rm -rf build', toolCall('Bash', { command: 'rm -rf build' }));
await fire('ls', toolCall('Bash', { command: 'ls' }));
await fire('Cline’s write_to_file', toolCall('write_to_file', { path: '.env', content: 'KEY=1' }));
await writeNotes();

async function writeNotes() {
  const file = path.resolve(workspace, 'notes.txt');
  const content = 'milk   \nbread\n';
  writeFileSync(file, content);
  await fire('notes.txt was written', {
    ...toolCall('Write', { file_path: file, content }),
    name: 'PostToolUse',
    durationMs: 5,
    result: { response: undefined, text: 'written', success: true },
  });
  console.log(`  it holds ${JSON.stringify(readFileSync(file, 'utf8'))}`);
  rmSync(file);
}

function toolCall(name, input) {
  return { name: 'PreToolUse', tool: { callId: 'call_1', name, input } };
}

async function fire(title, event) {
  const { effect, reasons, context, outcomes } = await engine.dispatch(event);
  console.log(`${title}: ${effect}`);
  for (const { hook, text } of reasons) console.log(`  refused by ${hook}: ${text}`);
  for (const { hook, text } of context) console.log(`  for the model, from ${hook}: ${text}`);
  const failed = outcomes.filter(({ failure }) => failure);
  for (const { hook, failure } of failed) console.log(`  ${hook} failed: ${failure.message}`);
}
