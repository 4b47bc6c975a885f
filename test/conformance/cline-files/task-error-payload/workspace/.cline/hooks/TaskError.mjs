import { readFileSync, writeFileSync } from 'node:fs';
const payload = JSON.parse(readFileSync(0, 'utf8'));
if (payload.hookName === 'agent_error') writeFileSync('seen.json', JSON.stringify(payload.error));
