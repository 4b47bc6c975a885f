import { deepEqual, match } from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { copyWorkspace, hookline } from '../run-hookline.ts';

const place = copyWorkspace(import.meta.dirname);
const hook = path.join(place.workspace, '.clinerules/hooks/PreToolUse');

deepEqual(test().status, 1, 'an untrusted hook passes no case');
hookline(place, ['trust', '--yes']);

const good = test();
deepEqual(good.status, 0, good.stdout + good.stderr);
match(good.stdout, /^2 passed, 0 failed$/m);

writeFileSync(hook, readFileSync(hook, 'utf8').replace('git push', 'git pull'));
hookline(place, ['trust', '--yes']);
const broken = test();
deepEqual(broken.status, 1);
match(broken.stdout, /^1 passed, 1 failed$/m);

function test(): ReturnType<typeof hookline> {
  return hookline(place, ['hooks', 'test']);
}
