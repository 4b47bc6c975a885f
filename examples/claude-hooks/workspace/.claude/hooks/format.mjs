// Takes trailing spaces out of what was written, and tells the model.
import { readFileSync, writeFileSync } from 'node:fs';

let text = '';
for await (const chunk of process.stdin) text += chunk;
const { tool_input: input, hook_event_name: hookEventName } = JSON.parse(text);
const before = readFileSync(input.file_path, 'utf8');
const after = before.replaceAll(/[ \t]+$/gm, '');
if (after !== before) {
  writeFileSync(input.file_path, after);
  const additionalContext = 'The file was formatted; read it again before you edit it.';
  console.log(JSON.stringify({ hookSpecificOutput: { hookEventName, additionalContext } }));
}
