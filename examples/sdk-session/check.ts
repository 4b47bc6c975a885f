import { equal } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { copyWorkspace } from '../run-hookline.ts';

const EXPECTED = String.raw`read_files: [{"query":"notes.txt","result":"     1→milk\n     2→bread\n     3→","success":true}]
price_of: {"thing":"milk","cents":200}
price_of: {"error":"The input of price_of does not fit its schema: input must have required property 'thing'. It needs thing."}
run_commands: {"error":"this branch is protected"}
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
