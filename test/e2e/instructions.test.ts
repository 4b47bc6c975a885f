import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHookline } from '../cli/hookline.ts';
import {
  at,
  createTempWorkspace,
  nodeHook,
  type TempWorkspace,
  write,
} from '../cli/temp-workspace.ts';
import { DONE, runScript } from './agent-run.ts';
import { claudeHooks, logOf } from './hook-log.ts';
import { flagsFor, startService } from './service.ts';

/** Logs what was loaded; the first files take longest. */
function logInstructions(
  workspace: TempWorkspace,
  more: Readonly<Record<string, string>> = {},
): void {
  const log = path.join(workspace.directory, 'log');
  const hook = write(
    workspace.directory,
    'loaded.cjs',
    nodeHook(`const { load_reason: reason, file_path: file, trigger_file_path: trigger, globs } = input;
const relative = (each) => each === undefined ? undefined : require('node:path').relative(${JSON.stringify(workspace.directory)}, each);
const line = JSON.stringify([reason, relative(file), relative(trigger), globs].filter((each) => each !== undefined));
setTimeout(() => require('node:fs').appendFileSync(${JSON.stringify(log)}, line + '\\n'), file.endsWith('CLAUDE.md') ? 400 : 0);`),
  );
  claudeHooks(workspace, { InstructionsLoaded: `node '${hook}'`, ...more });
}

describe('a rule of .claude/rules with paths', () => {
  it('is sent with the first file that matches it, and hooks get path_glob_match', async () => {
    const workspace = createTempWorkspace({
      '.claude/rules/types.md': '---\npaths:\n  - "**/*.ts"\n---\nUse types.\n',
      'a.txt': 'text\n',
      'src/b.ts': 'let b;\n',
    });
    logInstructions(workspace);
    const read = (file: string) => ({ tools: [{ name: 'Read', input: { file_path: file } }] });
    const service = await startService([read('a.txt'), read('src/b.ts'), { text: 'Done.' }]);
    await runHookline(['run', 'go', ...flagsFor(service)], at(workspace));
    const sent = service
      .requests()
      .map(({ system, messages }) => JSON.stringify([system, messages]).includes('Use types.'));
    expect(sent).toEqual([false, false, true]);
    expect(logOf(workspace)).toEqual([
      '["path_glob_match","repo/.claude/rules/types.md","repo/src/b.ts",["**/*.ts"]]',
    ]);
  });
});

describe('InstructionsLoaded', () => {
  it('comes in the order of the files, however long hooks take, and before the prompt', async () => {
    const workspace = createTempWorkspace({
      'CLAUDE.md': 'See @more.md',
      'more.md': 'more',
      'AGENTS.md': 'agents',
      '.claude/rules/one.md': 'one',
      '.claude/rules/two.md': 'two',
    });
    const log = path.join(workspace.directory, 'log');
    logInstructions(workspace, { UserPromptSubmit: `cat > /dev/null; echo prompt >> '${log}'` });
    write(workspace.home, '.claude/CLAUDE.md', 'mine');
    await runScript(workspace, [DONE], ['go']);
    expect(logOf(workspace)).toEqual([
      '["session_start","home/.claude/CLAUDE.md"]',
      '["session_start","repo/CLAUDE.md"]',
      '["include","repo/more.md"]',
      '["session_start","repo/AGENTS.md"]',
      '["session_start","repo/.claude/rules/one.md"]',
      '["session_start","repo/.claude/rules/two.md"]',
      'prompt',
    ]);
  });
});
