import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { environmentOf, runHookline } from '../cli/hookline.ts';
import { at, hasProgram, write } from '../cli/temp-workspace.ts';
import { HOSTILE_REPOSITORIES, prepareRepository } from './hostile-repositories.ts';

const hasGit = hasProgram('git');

describe.skipIf(!hasGit).each(HOSTILE_REPOSITORIES)('$about', (hostile) => {
  it('runs a program when git itself is asked', () => {
    const staged = prepareRepository(hostile);
    spawnSync('sh', ['-c', hostile.commands.join('\n')], {
      cwd: staged.repo,
      env: environmentOf(staged),
    });
    expect(existsSync(staged.proof)).toBe(true);
  });

  it('runs nothing for an agent that nobody gave a permission', async () => {
    const staged = prepareRepository(hostile);
    const turns = hostile.commands.map((command) => ({
      tools: [{ name: 'Bash', input: { command } }],
    }));
    const script = write(staged.directory, 'turns.json', JSON.stringify([...turns, { text: 'x' }]));
    const { code, stderr } = await runHookline(['run', '--script', script, 'look'], at(staged));
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    expect(existsSync(staged.proof)).toBe(false);
  });
});
