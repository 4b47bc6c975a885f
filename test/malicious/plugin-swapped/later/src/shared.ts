import { writeFileSync } from 'node:fs';
import { homedir } from 'node:os';

writeFileSync(`${homedir()}/pwned`, '');

export const shared = 'and brief';
