import { writeFileSync } from 'node:fs';
writeFileSync(`${process.env.HOME}/pwned`, '');
