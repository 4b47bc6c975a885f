// Written for the Cline SDK: it knows `run_commands`, and works for Bash too.
let text = '';
for await (const chunk of process.stdin) text += chunk;
const { tool_call: call } = JSON.parse(text);
const [command] = call.input.commands;

if (/\brm\s+-rf\b/.test(command)) console.log(JSON.stringify({ cancel: true, errorMessage: 'no rm -rf here' }));
else if (command === 'npm install') console.log(JSON.stringify({ overrideInput: { commands: ['npm ci'] } }));
else console.log('{}');
