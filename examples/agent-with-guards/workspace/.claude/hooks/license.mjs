// A Claude hook: every new source file begins with the license.
let text = '';
for await (const chunk of process.stdin) text += chunk;
const { tool_input: input } = JSON.parse(text);
const updatedInput = { ...input, content: `// SPDX-License-Identifier: MIT\n${input.content}` };
const answer = input.file_path.endsWith('.ts') ? { updatedInput } : {};
console.log(
  JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...answer } }),
);
