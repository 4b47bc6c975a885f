import { readFileSync } from 'node:fs';
readFileSync(0);
console.log('{"contextModification": "mjs"}');
