import { equal } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { copyWorkspace } from '../run-hookline.ts';

const EXPECTED = `a prompt: pass
  for the model, from claude:project:UserPromptSubmit:conventions.mjs: Tests stand in test/ and run with npm test.
rm -rf build: deny
  refused by claude:project:PreToolUse:guard.sh: [sh "$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh]: rm -rf is not for agents
  refused by cline:workspace-cline:PreToolUse.mjs: build/ belongs to CI
ls: pass
Cline’s write_to_file: deny
  refused by claude:plugin:no-secrets:PreToolUse:no-secrets.mjs: the plugin keeps agents away from .env files
notes.txt was written: pass
  for the model, from claude:project:PostToolUse:format.mjs: The file was formatted; read it again before you edit it.
  it holds "milk\\nbread\\n"
`;

const example = import.meta.dirname;
const { workspace, home } = copyWorkspace(example);
const run = spawnSync(
  process.execPath,
  [path.join(example, 'agent.mjs'), workspace, path.join(example, 'plugin')],
  { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: home } },
);
equal(run.stdout + run.stderr, EXPECTED);
