import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  at,
  createTempWorkspace,
  type TempWorkspace,
  trust,
  write,
} from '../cli/temp-workspace.ts';
import { startHookline, resultOf } from '../cli/hookline.ts';
import { bash, DONE, runScript, type Script, toolEnds } from './agent-run.ts';

const FLAGS = ['go', '--permission-mode', 'bypassPermissions', '--output', 'stream-json'];
const PRINT = 'echo "$STAGE $WORKERS $HOME_ONLY"';

function settings(env: object, hooks: object = {}): string {
  return JSON.stringify({ env, hooks });
}

/** A hook that writes down what it has. */
function recording(file: string): object {
  const command = `cat > /dev/null; ${PRINT} >> ${file}`;
  return { PreToolUse: [{ hooks: [{ type: 'command', command }] }] };
}

async function printed(workspace: TempWorkspace, turns: Script): Promise<readonly unknown[]> {
  const ends = toolEnds(await runScript(workspace, turns, FLAGS));
  return ends.map(({ output }) =>
    typeof output === 'object' && output !== null && 'text' in output ? output.text : null,
  );
}

function linesIn({ repo }: TempWorkspace, file: string): readonly string[] {
  return readFileSync(path.join(repo, file), 'utf8').trimEnd().split('\n');
}

describe('env of the user’s settings', () => {
  it('reaches commands, those of sub-agents and hooks', async () => {
    const workspace = createTempWorkspace();
    const env = { STAGE: 'test', WORKERS: 4, HOME_ONLY: true };
    write(workspace.home, '.claude/settings.json', settings(env, recording('seen')));
    const agent = {
      name: 'Agent',
      input: { description: 'look', prompt: 'look', subagent_type: 'general-purpose' },
    };
    const inAgent = [bash(PRINT), { text: 'Seen.' }];
    const outputs = await printed(workspace, [bash(PRINT), { tools: [agent] }, ...inAgent, DONE]);
    expect(outputs).toEqual(['test 4 true', 'test 4 true', 'Seen.']);
    expect(linesIn(workspace, 'seen')).toEqual(['test 4 true', 'test 4 true', 'test 4 true']);
  });

  it('reaches hooks of Cline, and no provider key those of a workspace', async () => {
    const script = '#!/bin/sh\ncat > /dev/null\necho "$STAGE <$OPENAI_API_KEY>" >> seen\necho {}\n';
    const workspace = createTempWorkspace({ '.clinerules/hooks/PreToolUse': script });
    write(workspace.home, 'Documents/Cline/Hooks/PreToolUse', script);
    const env = { STAGE: 'test', OPENAI_API_KEY: 'key' };
    write(workspace.home, '.claude/settings.json', settings(env));
    trust(workspace);
    await printed(workspace, [bash('true'), DONE]);
    expect(linesIn(workspace, 'seen').toSorted()).toEqual(['test <>', 'test <key>']);
  });

  it('overrides the environment, and --settings overrides it', async () => {
    const workspace = createTempWorkspace();
    write(workspace.home, '.claude/settings.json', settings({ STAGE: 'user', WORKERS: 1 }));
    const script = write(workspace.directory, 'script.json', JSON.stringify([bash(PRINT), DONE]));
    const flags = ['--settings', settings({ WORKERS: 2 })];
    const env = { STAGE: 'shell', HOME_ONLY: 'shell' };
    const child = startHookline(
      ['run', '--script', script, ...flags, ...FLAGS],
      at(workspace, { env }),
    );
    child.stdin?.end();
    const [end] = toolEnds(await resultOf(child));
    expect(end?.['output']).toMatchObject({ text: 'user 2 shell' });
  });

  it('does not come from a workspace, whose env reaches its own hooks only', async () => {
    const workspace = createTempWorkspace({
      '.claude/settings.json': settings({ STAGE: 'theirs' }, recording('theirs')),
    });
    write(workspace.home, '.claude/settings.json', settings({ WORKERS: 1 }, recording('ours')));
    trust(workspace);
    expect(await printed(workspace, [bash(PRINT), DONE])).toEqual([' 1']);
    expect(linesIn(workspace, 'ours')).toEqual([' 1']);
    expect(linesIn(workspace, 'theirs')).toEqual(['theirs 1']);
  });

  it('reaches commands also without hooks', async () => {
    const workspace = createTempWorkspace();
    write(workspace.home, '.claude/settings.json', settings({ STAGE: 'test' }));
    const result = await runScript(workspace, [bash(PRINT), DONE], [...FLAGS, '--no-hooks']);
    expect(toolEnds(result)[0]?.['output']).toMatchObject({ text: 'test' });
  });
});
