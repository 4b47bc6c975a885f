import { deepEqual } from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { copyWorkspace, hookline } from '../run-hookline.ts';

const place = copyWorkspace(import.meta.dirname);
const script = path.join(import.meta.dirname, 'turns.json');

function serverState(): string {
  const { servers } = JSON.parse(hookline(place, ['mcp', 'list', '--json']).stdout);
  const [{ name, state, why, tools }] = servers;
  return `${name} ${state} ${[why, ...tools].filter((word) => word !== '').join(' ')}`;
}

const before = serverState();
const trust = hookline(place, ['trust', '--yes']);
const after = serverState();
const run = hookline(place, [
  'run',
  '--script',
  script,
  '--allow',
  'mcp__notes',
  'What do we need?',
]);
appendFileSync(path.join(place.workspace, 'notes-server.mjs'), '// changed\n');
const changed = serverState();

deepEqual(
  { before, trust: trust.status, after, run, changed },
  {
    before: 'notes withheld untrusted: it was never trusted here',
    trust: 0,
    after: 'notes connected read delete',
    run: {
      status: 0,
      stdout: 'The note says: two bottles. It stays.\n',
      stderr:
        'denied: mcp__notes__delete: PreToolUse:mcp__notes__delete hook error: [node guard.mjs]: notes (project) keeps its notes (claude:project:PreToolUse:guard.mjs)\n',
    },
    changed: 'notes withheld modified: notes-server.mjs changed since it was trusted',
  },
);
