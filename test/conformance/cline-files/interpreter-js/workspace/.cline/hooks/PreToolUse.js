const fs = require('node:fs');
fs.readFileSync(0);
console.log('{"contextModification": "js"}');
