import { equal } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { copyWorkspace, hookline } from '../run-hookline.ts';

const EXPECTED = `modes: default, acceptEdits, plan, dontAsk, bypassPermissions
call: Write .env
  failed: PreToolUse:Write hook error: [node \${CLAUDE_PROJECT_DIR}/.claude/no-secrets.mjs]: secrets are not written by agents
call: Write service.txt
asked: Write service.txt: (nothing) → on
  choices: Allow, Allow all edits, Reject
  completed
The service is set up; the key is yours to write.
end_turn
`;

const here = import.meta.dirname;
const place = copyWorkspace(here);
equal(hookline(place, ['trust', '--yes']).status, 0);
const program = path.resolve(here, '../../dist/bin/hookline.js');
const agent = [process.execPath, program, 'acp', '--script', path.join(here, 'turns.json')];
const run = spawnSync(
  process.execPath,
  [path.join(here, 'editor.mjs'), place.workspace, ...agent],
  { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: place.home } },
);
equal(run.stdout + run.stderr, EXPECTED);
equal(readFileSync(path.join(place.workspace, 'service.txt'), 'utf8'), 'on');
