import { deepEqual, equal, match, notEqual } from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { copyWorkspace, hookline, PROGRAM } from '../run-hookline.ts';

const place = copyWorkspace(import.meta.dirname);
const { workspace, home } = place;
const settings = path.join(home, '.claude', 'settings.json');
mkdirSync(path.dirname(settings));
cpSync(path.join(workspace, 'settings.json'), settings);
const before = readFileSync(settings, 'utf8');

const planned = hookline(place, ['agents', 'enable', 'claude', '--dry-run']);
match(planned.stdout, /^\+.*\/\.hookline\/bin\/hook' claude/m);
equal(readFileSync(settings, 'utf8'), before);

equal(hookline(place, ['agents', 'enable', 'claude']).status, 0);
notEqual(readFileSync(settings, 'utf8'), before);

// A bridge of this home: without one, a bridge of somebody else on this machine would take the event.
const env = { PATH: process.env['PATH'], HOME: home };
const bridge = spawn(process.execPath, [PROGRAM, 'bridge', 'serve'], { cwd: workspace, env });
await once(bridge.stdout, 'data');

const event = {
  hook_event_name: 'PreToolUse',
  session_id: 'example',
  transcript_path: '/tmp/example.jsonl',
  cwd: workspace,
  permission_mode: 'default',
  tool_name: 'Bash',
  tool_input: { command: 'echo hi' },
  tool_use_id: 'toolu_1',
};
const [command = ''] = /'[^']*\/bin\/hook' claude/.exec(readFileSync(settings, 'utf8')) ?? [];
const run = spawnSync('/bin/sh', ['-c', command], {
  input: JSON.stringify(event),
  encoding: 'utf8',
});
deepEqual([run.status, run.stdout, run.stderr], [0, '', '']);

const status = JSON.parse(hookline(place, ['agents', 'status', 'claude', '--json']).stdout);
const [{ state, causes, lastEvent }] = status.agents;
deepEqual(
  { state, causes, last: lastEvent.name },
  { state: 'installed', causes: [], last: 'PreToolUse' },
);

const closed = once(bridge, 'close');
bridge.kill();
await closed;
equal(hookline(place, ['agents', 'disable', 'claude']).status, 0);
equal(readFileSync(settings, 'utf8'), before);
