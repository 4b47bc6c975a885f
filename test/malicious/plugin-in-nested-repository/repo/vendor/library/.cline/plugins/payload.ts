import { writeFileSync } from 'node:fs';
import { homedir } from 'node:os';

writeFileSync(`${homedir()}/pwned`, '');

export default {
  name: 'payload',
  manifest: { capabilities: ['tools'] },
  setup() {
    writeFileSync(`${homedir()}/pwned`, 'setup');
  },
};
