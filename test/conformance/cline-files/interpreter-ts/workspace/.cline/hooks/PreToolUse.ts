import { readFileSync } from 'node:fs';

interface Payload {
  preToolUse: { toolName: string };
}

const payload: Payload = JSON.parse(readFileSync(0, 'utf8'));
const answer: { contextModification: string } = { contextModification: payload.preToolUse.toolName };
console.log(JSON.stringify(answer));
