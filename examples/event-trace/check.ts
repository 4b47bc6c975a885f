import { deepEqual, equal, match } from 'node:assert/strict';
import path from 'node:path';
import { openDatabase } from '../../src/store/driver.ts';
import { copyWorkspace, hookline } from '../run-hookline.ts';

const place = copyWorkspace(import.meta.dirname);
equal(hookline(place, ['--root', '.', 'trust', '--yes']).status, 0);
for (const command of ['rm -r build', 'ls']) {
  const call = ['--tool', 'Bash', '--input', JSON.stringify({ command })];
  hookline(place, ['--root', '.', 'hooks', 'fire', 'PreToolUse', ...call]);
}

const denied = hookline(place, ['trace', 'list', '--workspace', '.', '--effect', 'deny']);
match(denied.stdout, /hookline +PreToolUse +Bash +deny/);

const lines = hookline(place, ['trace', 'export', '--json']).stdout.trimEnd().split('\n');
const events: readonly Record<string, unknown>[] = lines.map((line) => JSON.parse(line));
deepEqual(
  events.map(({ tool, effect, hooks }) => [tool, effect, hooks]),
  [
    ['Bash', 'deny', ['cline:workspace:PreToolUse']],
    ['Bash', 'pass', ['cline:workspace:PreToolUse']],
  ],
);

match(hookline(place, ['trace', 'verify']).stdout, /The chain is intact: 2 events/);
const database = await openDatabase(path.join(place.home, '.hookline', 'events.db'));
database.exec("UPDATE events SET effect = 'pass' WHERE effect = 'deny'");
database.close();
const verified = hookline(place, ['trace', 'verify']);
equal(verified.status, 1);
match(verified.stdout, /event 1 .* was changed/);
