import { equal } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { copyWorkspace } from '../run-hookline.ts';

const EXPECTED = `done: I wrote answer.ts.
denied: Write: This project is written in TypeScript; write a .ts file
answer.ts holds "// SPDX-License-Identifier: MIT\\nexport default 42;"
the model was told: UserPromptSubmit hook additional context: Answers are numbers. (from mine:conventions)
resumed with 7 messages
done: It is 42.
`;

const { workspace, home } = copyWorkspace(import.meta.dirname);
const run = spawnSync(process.execPath, [path.join(import.meta.dirname, 'agent.mjs'), workspace], {
  encoding: 'utf8',
  env: { PATH: process.env['PATH'], HOME: home },
});
equal(run.stdout + run.stderr, EXPECTED);
