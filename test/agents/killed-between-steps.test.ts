import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { build } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listAgentNames } from '../../src/agents/agents.ts';
import { disableAgent, enableAgent } from '../../src/agents/switch-agents.ts';
import {
  type AgentsFixture,
  createAgentsFixture,
  listAgentFiles,
  readTree,
  write,
} from './fixture.ts';

const PROJECT = path.resolve(import.meta.dirname, '../..');
const TEXT = `// mine\r\n{\r\n  "a": 1, // keep\r\n  "PreToolUse": [],\r\n  "hooks": { "PreToolUse": [] },\r\n}`;
let directory = '';
let program = '';

/** One file, because a child that compiles the sources takes ten times as long. */
beforeAll(async () => {
  directory = mkdtempSync(path.join(PROJECT, 'node_modules', '.cache-killed-'));
  program = path.join(directory, 'switch-and-die.mjs');
  await build({
    input: path.join(import.meta.dirname, 'switch-and-die.ts'),
    platform: 'node',
    external: [/^vitest$/, /^(?!\.|\/|node:)/],
    logLevel: 'silent',
    output: { file: program, codeSplitting: false },
  });
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Whether the process was killed, and not finished before. */
function switchAndDie(action: string, name: string, fixture: AgentsFixture, step: number): boolean {
  const { signal, status, stderr } = spawnSync(
    process.execPath,
    [program, action, name, fixture.home, fixture.project, String(step)],
    { encoding: 'utf8' },
  );
  if (signal !== 'SIGKILL') expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return signal === 'SIGKILL';
}

async function prepare(name: string): Promise<AgentsFixture> {
  const fixture = createAgentsFixture();
  for (const file of await listAgentFiles(name, fixture.machine)) {
    if (file.kind === 'entries') write(file.path, TEXT);
  }
  return fixture;
}

/** A killed process holds its lock until it is stale. */
function removeLock({ machine }: AgentsFixture): void {
  rmSync(path.join(machine.stateDirectory, 'agents.json.lock'), { recursive: true, force: true });
}

const OPTIONS = { scope: 'user', now: 1_795_000_000_000 } as const;

describe.each(listAgentNames())('%s killed between two steps', (name) => {
  it('leaves files that disable restores, and that enable completes, whenever enable is killed', async () => {
    let step = 1;
    for (let isKilled = true; isKilled; step += 1) {
      const fixture = await prepare(name);
      const before = readTree(fixture.home);
      isKilled = switchAndDie('enable', name, fixture, step);
      removeLock(fixture);
      await enableAgent(fixture.machine, name, OPTIONS);
      const again = await enableAgent(fixture.machine, name, OPTIONS);
      expect(again.changes).toEqual([]);
      await disableAgent(fixture.machine, name, OPTIONS);
      expect(readTree(fixture.home), `enabled again after step ${step}`).toEqual(before);
    }
    expect(step).toBeGreaterThan(4);
  }, 120_000);

  it('leaves files that disable restores when it is the next command', async () => {
    for (let step = 1, isKilled = true; isKilled; step += 1) {
      const fixture = await prepare(name);
      const before = readTree(fixture.home);
      isKilled = switchAndDie('enable', name, fixture, step);
      removeLock(fixture);
      await disableAgent(fixture.machine, name, OPTIONS);
      expect(readTree(fixture.home), `disabled after step ${step}`).toEqual(before);
    }
  }, 120_000);

  it('restores the files when disable is killed and run again', async () => {
    for (let step = 1, isKilled = true; isKilled; step += 1) {
      const fixture = await prepare(name);
      const before = readTree(fixture.home);
      await enableAgent(fixture.machine, name, OPTIONS);
      isKilled = switchAndDie('disable', name, fixture, step);
      removeLock(fixture);
      await disableAgent(fixture.machine, name, OPTIONS);
      expect(readTree(fixture.home), `disabled again after step ${step}`).toEqual(before);
    }
  }, 120_000);
});
