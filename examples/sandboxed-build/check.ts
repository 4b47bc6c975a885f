import { deepEqual, equal } from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { copyWorkspace, hookline, type Place } from '../run-hookline.ts';

const IN_SANDBOX = `write dist.txt: done
read ~/.aws/credentials: EACCES
write ~/.bashrc: EROFS
plant .claude/settings.json: EACCES
`;
const OUTSIDE = `write dist.txt: done
read ~/.aws/credentials: done
write ~/.bashrc: done
plant .claude/settings.json: done
`;

const probe = copyWorkspace(import.meta.dirname);
const { stdout: findings } = hookline(probe, ['doctor']);
if (/✓ sandbox/u.test(findings)) {
  const inside = copyWorkspace(import.meta.dirname);
  equal(build(inside, 'on'), IN_SANDBOX);
  deepEqual(listTraces(inside), [true, false, false]);
  const outside = copyWorkspace(import.meta.dirname);
  equal(build(outside, 'off'), OUTSIDE);
  deepEqual(listTraces(outside), [true, true, true]);
} else process.stdout.write('skipped: the sandbox does not work on this machine\n');

/** Runs the agent with the scripted model; returns what the build printed. */
function build(place: Place, mode: 'on' | 'off'): string {
  mkdirSync(path.join(place.home, '.aws'));
  writeFileSync(path.join(place.home, '.aws/credentials'), 'key\n');
  const script = path.join(import.meta.dirname, 'turns.json');
  const flags = ['--script', script, '--permission-mode', 'bypassPermissions', '--sandbox', mode];
  const run = hookline(place, ['run', ...flags, '--output', 'stream-json', 'Build it']);
  const end = run.stdout.split('\n').find((line) => line.includes('"type":"tool-end"')) ?? '{}';
  return `${String(JSON.parse(end).output?.text)}\n`;
}

function listTraces({ workspace, home }: Place): readonly boolean[] {
  const built = path.join(workspace, 'dist.txt');
  return [
    existsSync(built) && readFileSync(built, 'utf8') === 'built\n',
    existsSync(path.join(home, '.bashrc')),
    existsSync(path.join(workspace, '.claude/settings.json')),
  ];
}
