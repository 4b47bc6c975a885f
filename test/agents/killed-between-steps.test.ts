import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { build } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listAgentNames } from '../../src/agents/agents.ts';
import { disableAgent, enableAgent, type SwitchOptions } from '../../src/agents/switch-agents.ts';
import {
  type AgentsFixture,
  createAgentsFixture,
  createMachine,
  listAgentFiles,
  readTree,
  write,
} from './fixture.ts';

const PROJECT = path.resolve(import.meta.dirname, '../..');
const TEXT = `// mine\r\n{\r\n  "a": 1, // keep\r\n  "PreToolUse": [],\r\n  "hooks": { "PreToolUse": [] },\r\n}`;
const OPTIONS = { scope: 'user', now: 1_795_000_000_000 } as const;
let directory = '';
let program = '';

/** One file, because a child that compiles the sources takes ten times as long. */
beforeAll(async () => {
  directory = mkdtempSync(path.join(PROJECT, 'node_modules', '.cache-killed-'));
  program = path.join(directory, 'switch-and-die.mjs');
  await build({
    input: path.join(import.meta.dirname, 'switch-and-die.ts'),
    platform: 'node',
    external: [/^(?!\.|\/|node:)/],
    logLevel: 'silent',
    output: { file: program, codeSplitting: false },
  });
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function prepare(name: string): Promise<AgentsFixture> {
  const fixture = createAgentsFixture();
  for (const file of await listAgentFiles(name, fixture.machine)) {
    if (file.kind === 'entries') write(file.path, TEXT);
  }
  return fixture;
}

interface Interruption {
  readonly step: string;
  /** A copy of the home directory as the step left it. */
  readonly copy: string;
}

/** Copies the home after each step, as a process would leave it that is killed there. */
async function copyAfterEachStep(
  fixture: AgentsFixture,
  run: (options: SwitchOptions) => Promise<unknown>,
): Promise<readonly Interruption[]> {
  const interruptions: Interruption[] = [];
  await run({
    ...OPTIONS,
    onStep(step) {
      const copy = path.join(path.dirname(fixture.home), `home-${interruptions.length}`);
      cpSync(fixture.home, copy, { recursive: true, verbatimSymlinks: true });
      interruptions.push({ step, copy });
    },
  });
  return interruptions;
}

/** Puts a copy back, without the lock of the killed process, which would have to become stale first. */
function putBack({ home, machine }: AgentsFixture, copy: string): void {
  rmSync(home, { recursive: true });
  cpSync(copy, home, { recursive: true, verbatimSymlinks: true });
  rmSync(path.join(machine.stateDirectory, 'agents.json.lock'), { recursive: true, force: true });
}

describe.each(listAgentNames())('%s killed between two steps', (name) => {
  it('has files that disable restores, and that enable completes, whenever enable is killed', async () => {
    const fixture = await prepare(name);
    const before = readTree(fixture.home);
    const interruptions = await copyAfterEachStep(fixture, (options) =>
      enableAgent(fixture.machine, name, options),
    );
    expect(interruptions.map(({ step }) => step.split(' ')[0])).toEqual(
      expect.arrayContaining(['script', 'record', 'temporary', 'file']),
    );
    for (const { step, copy } of interruptions) {
      putBack(fixture, copy);
      await disableAgent(fixture.machine, name, OPTIONS);
      expect(readTree(fixture.home), `disabled after ${step}`).toEqual(before);
      putBack(fixture, copy);
      await enableAgent(fixture.machine, name, OPTIONS);
      const again = await enableAgent(fixture.machine, name, OPTIONS);
      expect(again.changes).toEqual([]);
      await disableAgent(fixture.machine, name, OPTIONS);
      expect(readTree(fixture.home), `enabled again after ${step}`).toEqual(before);
    }
  }, 120_000);

  it('has files that disable restores when it is killed and run again', async () => {
    const fixture = await prepare(name);
    const before = readTree(fixture.home);
    await enableAgent(fixture.machine, name, OPTIONS);
    const interruptions = await copyAfterEachStep(fixture, (options) =>
      disableAgent(fixture.machine, name, options),
    );
    for (const { step, copy } of interruptions) {
      putBack(fixture, copy);
      await disableAgent(fixture.machine, name, OPTIONS);
      expect(readTree(fixture.home), `disabled again after ${step}`).toEqual(before);
    }
  }, 120_000);

  it.each(['enable', 'disable'])(
    'survives kill -9 at the first steps of %s',
    async (action) => {
      for (let step = 1; step <= 5; step += 1) {
        const fixture = await prepare(name);
        const before = readTree(fixture.home);
        if (action === 'disable') await enableAgent(fixture.machine, name, OPTIONS);
        const { signal, stderr } = spawnSync(
          process.execPath,
          [program, action, name, fixture.home, fixture.project, String(step)],
          { encoding: 'utf8' },
        );
        expect(stderr).toBe('');
        rmSync(path.join(fixture.machine.stateDirectory, 'agents.json.lock'), {
          recursive: true,
          force: true,
        });
        const machine = createMachine(fixture.home, fixture.project);
        await disableAgent(machine, name, OPTIONS);
        expect(readTree(fixture.home), `killed at step ${step}`).toEqual(before);
        if (signal !== 'SIGKILL') break;
      }
    },
    60_000,
  );
});
