import { deepEqual } from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { copyWorkspace, hookline } from '../run-hookline.ts';

const place = copyWorkspace(import.meta.dirname);
mkdirSync(path.join(place.workspace, '.git'));
writeFileSync(path.join(place.workspace, '.git', 'HEAD'), 'ref: refs/heads/main\n');

function states(): readonly string[] {
  const { plugins } = JSON.parse(hookline(place, ['plugin', 'list', '--json']).stdout);
  return plugins.map(({ name, state }: { name: string; state: string }) => `${name} ${state}`);
}

const script = ['--script', 'turns.json'];
const allowed = ['--allow', 'count_words', '--allow', 'Bash(git push)'];
const before = states();
const trust = hookline(place, ['trust', '--yes']);
const after = states();
const run = hookline(place, ['run', ...script, ...allowed, 'count, then push']);
const command = hookline(place, ['run', ...script, '/words how many are these']);

deepEqual(
  { before, trust: trust.status, after, run, command },
  {
    before: ['branch-guard untrusted', 'team-tools untrusted'],
    trust: 0,
    after: ['branch-guard ready', 'team-tools ready'],
    run: {
      status: 0,
      stdout: 'Three words, and nothing was pushed.\n',
      stderr: 'denied: Bash: Nobody pushes from main (plugin:branch-guard:beforeTool)\n',
    },
    command: { status: 0, stdout: '4 words\n', stderr: '' },
  },
);
