import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openEventStore } from '../../src/store/event-store.ts';
import { jsonOf, runHookline, startHookline } from '../cli/hookline.ts';
import { getRecordedPayload } from '../dialects/recorded-payloads.ts';
import { createDirectories, type Directories, readTree, write } from './fixture.ts';

/** One home for all agents, with a bridge that receives what their entries send. */
let place: Directories;
let bridge: ChildProcess;

beforeAll(async () => {
  place = createDirectories();
  bridge = startHookline(['bridge', 'serve', '--json'], { cwd: place.project, home: place.home });
  if (bridge.stdout !== null) await once(bridge.stdout, 'data');
});

afterAll(async () => {
  const closed = once(bridge, 'close');
  bridge.kill();
  await closed;
  place.remove();
});

async function run(...words: readonly string[]) {
  return runHookline(words, { cwd: place.project, home: place.home });
}

async function readStatus(name: string) {
  const { agents } = jsonOf(await run('agents', 'status', name, '--json'));
  return agents[0];
}

/** Settings with comments, foreign entries and odd formatting; Droid's map of events takes them, too. */
const TEXT = `// mine\r\n{"a" : 1,\r\n\t"hooks": { "PreToolUse": [ { "matcher": "Bash", "hooks": [ { "type": "command", "command": "true" } ] } ], /* end */ },\r\n}`;

const CALL = { tool_name: 'Bash', tool_input: { command: 'echo hi' } };

/** Payloads of agents that were not recorded, by their documentation. */
const WRITTEN: Readonly<Record<string, object>> = {
  claude: {
    hook_event_name: 'PreToolUse',
    session_id: 's1',
    transcript_path: '/t',
    cwd: '/p',
    ...CALL,
  },
  droid: {
    hook_event_name: 'PreToolUse',
    session_id: 's1',
    cwd: '/p',
    tool_name: 'Execute',
    tool_input: {},
  },
  cursor: {
    hook_event_name: 'preToolUse',
    conversation_id: 'c1',
    cursor_version: '2',
    tool_name: 'Shell',
    tool_input: {},
  },
  cline: {
    hookName: 'PreToolUse',
    taskId: 't1',
    clineVersion: '3',
    timestamp: '1736654400000',
    workspaceRoots: ['/p'],
    userId: 'u',
    preToolUse: { toolName: 'execute_command', parameters: { command: 'echo hi' } },
  },
};

function getPayload(name: string): string {
  const event = name === 'gemini' ? 'BeforeTool' : 'PreToolUse';
  return JSON.stringify(WRITTEN[name] ?? getRecordedPayload(name, event));
}

interface Row {
  readonly name: string;
  /** The settings file that is there before, and from which the command is taken. */
  readonly settings?: string;
  readonly event: string;
  /** The command that the agent runs for that event. */
  readonly findCommand: () => string;
}

function findIn(file: string): () => string {
  return () => {
    const text = readFileSync(path.join(place.home, file), 'utf8');
    return /'[^']*\/bin\/hook' [a-z]+/.exec(text)?.[0] ?? 'exit 9';
  };
}

const ROWS: readonly Row[] = [
  {
    name: 'claude',
    settings: '.claude/settings.json',
    event: 'PreToolUse',
    findCommand: findIn('.claude/settings.json'),
  },
  {
    name: 'cline',
    settings: '.cline/hooks.json',
    event: 'PreToolUse',
    findCommand: () => path.join(place.home, 'Documents/Cline/Hooks/PreToolUse'),
  },
  {
    name: 'codex',
    settings: '.codex/hooks.json',
    event: 'PreToolUse',
    findCommand: findIn('.codex/hooks.json'),
  },
  {
    name: 'gemini',
    settings: '.gemini/settings.json',
    event: 'PreToolUse',
    findCommand: findIn('.gemini/settings.json'),
  },
  { name: 'copilot', event: 'PreToolUse', findCommand: findIn('.copilot/hooks/hookline.json') },
  {
    name: 'qwen',
    settings: '.qwen/settings.json',
    event: 'PreToolUse',
    findCommand: findIn('.qwen/settings.json'),
  },
  {
    name: 'cursor',
    settings: '.cursor/hooks.json',
    event: 'PreToolUse',
    findCommand: findIn('.cursor/hooks.json'),
  },
  {
    name: 'droid',
    settings: '.factory/hooks.json',
    event: 'PreToolUse',
    findCommand: findIn('.factory/hooks.json'),
  },
];

describe('an agent that is switched on', () => {
  it.each(ROWS)(
    'is recorded when $name fires, and its files are restored',
    async (row) => {
      const { name, settings, event, findCommand } = row;
      if (settings !== undefined) write(path.join(place.home, settings), TEXT);
      const before = readTree(place.home);

      expect(await run('agents', 'enable', name)).toMatchObject({ code: 0, stderr: '' });
      expect(await readStatus(name)).toMatchObject({
        agent: name,
        state: 'installed',
        lastEvent: null,
      });

      const fired = spawnSync('/bin/sh', ['-c', findCommand()], {
        cwd: place.project,
        env: { PATH: '/usr/bin:/bin', HOME: place.home },
        input: getPayload(name),
        encoding: 'utf8',
      });
      expect(fired).toMatchObject({ status: 0, stdout: '', stderr: '' });
      await vi.waitFor(async () => {
        const { lastEvent, lastFailure } = await readStatus(name);
        expect({ name: lastEvent?.name, lastFailure }).toEqual({ name: event, lastFailure: null });
      }, 30_000);

      expect(await run('agents', 'disable', name)).toMatchObject({ code: 0, stderr: '' });
      expect(readTree(place.home)).toEqual(before);
      expect(await readStatus(name)).toMatchObject({ state: 'off' });
    },
    60_000,
  );

  it('is recorded when a plugin of opencode runs', async () => {
    const before = readTree(place.home);
    expect(await run('agents', 'enable', 'opencode')).toMatchObject({ code: 0, stderr: '' });
    const file = path.join(place.home, '.config/opencode/plugin/hookline.js');
    const { Hookline } = await import(`${pathToFileURL(file).href}?${Math.random()}`);
    const hooks = await Hookline({ directory: place.project, worktree: place.project });
    await hooks['tool.execute.before'](
      { tool: 'bash', sessionID: 'ses_1', callID: 'call_1' },
      { args: { command: 'echo hi' } },
    );
    await vi.waitFor(async () => {
      expect((await readStatus('opencode')).lastEvent?.name).toBe('PreToolUse');
    }, 30_000);
    await run('agents', 'disable', 'opencode');
    expect(readTree(place.home)).toEqual(before);
  }, 60_000);

  it('is recorded once when its agent also runs the hooks of Claude', async () => {
    await run('agents', 'enable', 'claude', 'copilot');
    const payload = {
      ...getRecordedPayload('copilot', 'PreToolUse'),
      session_id: 'both',
      timestamp: '2026-11-17T08:00:00.000Z',
    };
    const script = path.join(place.home, '.hookline/bin/hook');
    for (const name of ['claude', 'copilot']) {
      spawnSync(script, [name], { input: JSON.stringify(payload), env: {} });
    }
    const store = await openEventStore({ directory: path.join(place.home, '.hookline') });
    onTestFinished(() => store.close());
    await vi.waitFor(() => {
      const events = [...store.list()].filter(({ sessionId }) => sessionId === 'both');
      expect(events.map(({ agent, event }) => [agent, event])).toEqual([['copilot', 'PreToolUse']]);
    }, 30_000);
    await run('agents', 'disable', '--all');
  }, 60_000);

  it('leaves the script, which only its owner may read, until it is uninstalled', async () => {
    await run('agents', 'enable', 'claude');
    const script = path.join(place.home, '.hookline/bin/hook');
    expect(statSync(script).mode & 0o777).toBe(0o700);
    await run('agents', 'disable', 'claude');
    expect(existsSync(script)).toBe(true);
    await run('uninstall');
    expect(existsSync(script)).toBe(false);
  }, 60_000);
});
