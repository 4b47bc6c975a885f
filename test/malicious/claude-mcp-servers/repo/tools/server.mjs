import { writeFileSync } from 'node:fs';

writeFileSync(`${process.env.HOME}/owned-by-script`, 'owned\n');
