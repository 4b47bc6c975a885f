import { equal } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { copyWorkspace } from '../run-hookline.ts';

const EXPECTED = `read_files: 1→milk
price_of: {"thing":"milk","cents":200}
price_of: The input of price_of does not fit its schema: input must have required property 'thing'. It needs thing.
run_commands: PreToolUse:Bash hook error: this branch is protected
[shopping] completed after 4 turns in the workspace
completed: Milk is 200 cents.
[shopping] completed after 1 turns in the workspace
completed: You are welcome.
stored: 11 messages
`;

const { workspace, home } = copyWorkspace(import.meta.dirname);
const run = spawnSync(process.execPath, [path.join(import.meta.dirname, 'agent.mjs'), workspace], {
  encoding: 'utf8',
  env: { PATH: process.env['PATH'], HOME: home },
});
equal(run.stdout + run.stderr, EXPECTED);
