require('node:fs').readFileSync(0);
console.log('{"contextModification": "cjs"}');
