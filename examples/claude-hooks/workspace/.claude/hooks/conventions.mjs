// Plain text on stdout is context for the model.
let text = '';
for await (const chunk of process.stdin) text += chunk;
const { prompt } = JSON.parse(text);
if (/\btests?\b/i.test(prompt)) console.log('Tests stand in test/ and run with npm test.');
