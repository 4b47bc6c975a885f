#!/usr/bin/env node
const payload = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify({ contextModification: JSON.stringify(process.version.startsWith("v")) }));
