import path from 'node:path';

let text = '';
for await (const chunk of process.stdin) text += chunk;
const { tool_input: input, hook_event_name: hookEventName } = JSON.parse(text);
if (path.basename(input.file_path).startsWith('.env')) {
  const permissionDecisionReason = 'the plugin keeps agents away from .env files';
  const hookSpecificOutput = { hookEventName, permissionDecision: 'deny', permissionDecisionReason };
  console.log(JSON.stringify({ hookSpecificOutput }));
}
