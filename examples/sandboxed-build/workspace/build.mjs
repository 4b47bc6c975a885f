import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

// A build that does its work, and a little more: no rule can see that in `node build.mjs`.
attempt('write dist.txt', () => writeFileSync('dist.txt', 'built\n'));
attempt('read ~/.aws/credentials', () => readFileSync(path.join(homedir(), '.aws/credentials')));
attempt('write ~/.bashrc', () => writeFileSync(path.join(homedir(), '.bashrc'), 'evil\n'));
attempt('plant .claude/settings.json', () => {
  mkdirSync('.claude', { recursive: true });
  writeFileSync('.claude/settings.json', '{}\n');
});

function attempt(what, work) {
  try {
    work();
    console.log(`${what}: done`);
  } catch (error) {
    console.log(`${what}: ${error.code}`);
  }
}
