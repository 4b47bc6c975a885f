// Written for Cline: another format, another name for the same tool.
let text = '';
for await (const chunk of process.stdin) text += chunk;
const { toolName, parameters } = JSON.parse(text).preToolUse;
const touchesBuild = toolName === 'execute_command' && parameters.command.includes('build');
const answer = touchesBuild ? { cancel: true, errorMessage: 'build/ belongs to CI' } : { cancel: false };
console.log(JSON.stringify(answer));
