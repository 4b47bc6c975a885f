import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type AgentsMachine, loadAgent } from '../../src/agents/agents.ts';
import { type AgentHistory, type AgentStatus, inspectAgent } from '../../src/agents/status.ts';
import { enableAgent } from '../../src/agents/switch-agents.ts';
import type { InstallScope } from '../../src/dialects/install.ts';
import { type AgentsFixture, createAgentsFixture, write } from './fixture.ts';

const NO_HISTORY: AgentHistory = { lastEvent: null, lastFailure: null };

async function inspect(
  name: string,
  machine: AgentsMachine,
  history: AgentHistory = NO_HISTORY,
): Promise<AgentStatus> {
  return inspectAgent(await loadAgent(name), machine, history);
}

async function enable(
  name: string,
  { machine }: AgentsFixture,
  scope: InstallScope = 'user',
): Promise<void> {
  await enableAgent(machine, name, { scope, now: Date.now() });
}

function listCodes({ causes }: AgentStatus): readonly string[] {
  return causes.map(({ code }) => code);
}

/** Changes a file's text. */
function edit(file: string, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}

/** Puts a program on the PATH of the fixture. */
function addProgram({ home }: AgentsFixture, name: string, text: string): string {
  const file = write(path.join(home, 'bin', name), text);
  chmodSync(file, 0o755);
  return file;
}

describe('the status of an agent', () => {
  it('is off before, installed after, and then has no causes', async () => {
    const fixture = createAgentsFixture();
    expect(await inspect('claude', fixture.machine)).toMatchObject({ state: 'off', causes: [] });
    await enable('claude', fixture);
    expect(await inspect('claude', fixture.machine)).toEqual({
      agent: 'claude',
      state: 'installed',
      guard: false,
      causes: [],
      files: [path.join(fixture.home, '.claude/settings.json')],
    });
  });

  it.each([
    ['claude', '.claude/settings.json', '"disableAllHooks": true'],
    ['qwen', '.qwen/settings.json', '"disableAllHooks": true'],
    ['gemini', '.gemini/settings.json', '"hooksConfig": { "enabled": false }'],
    ['gemini', '.gemini/settings.json', '"hooksConfig": { "disabled": ["hookline"] }'],
    ['droid', '.factory/hooks.json', '"hooksDisabled": true'],
    ['copilot', '.copilot/settings.json', '"disableAllHooks": true'],
  ])('names the switch of %s in %s: %s', async (name, file, setting) => {
    const fixture = createAgentsFixture();
    write(path.join(fixture.home, file), `{ ${setting} } // off`);
    await enable(name, fixture);
    const status = await inspect(name, fixture.machine);
    expect(status.state).toBe('installed');
    expect(listCodes(status)).toEqual(['hooks-off']);
    expect(status.causes[0]?.message).toContain(path.join(fixture.home, file));
  });

  it.each([
    '[features]\nhooks = false\n',
    'features.hooks = false',
    'features = { hooks = false }',
  ])('names the switch of codex: %s', async (text) => {
    const fixture = createAgentsFixture();
    write(path.join(fixture.home, '.codex/config.toml'), text);
    await enable('codex', fixture);
    expect(listCodes(await inspect('codex', fixture.machine))).toEqual(['hooks-off']);
  });

  it('follows the stronger file: the project switches hooks on again', async () => {
    const fixture = createAgentsFixture();
    write(path.join(fixture.home, '.claude/settings.json'), '{ "disableAllHooks": true }');
    write(
      path.join(fixture.project, '.claude/settings.local.json'),
      '{ "disableAllHooks": false }',
    );
    await enable('claude', fixture);
    expect(listCodes(await inspect('claude', fixture.machine))).toEqual([]);
  });

  it.each(['droid'])('says that only managed hooks run in %s', async (name) => {
    const fixture = createAgentsFixture();
    write(path.join(fixture.home, '.factory/settings.json'), '{ "allowManagedHooksOnly": true }');
    await enable(name, fixture);
    expect(listCodes(await inspect(name, fixture.machine))).toEqual(['hooks-managed']);
  });
});

describe('a folder or hook that the agent does not trust', () => {
  it('is found for claude', async () => {
    const fixture = createAgentsFixture();
    const projects = { [fixture.project]: { hasTrustDialogAccepted: false } };
    write(path.join(fixture.home, '.claude.json'), JSON.stringify({ projects }));
    await enable('claude', fixture);
    expect(listCodes(await inspect('claude', fixture.machine))).toEqual(['not-trusted']);
  });

  it.each(['gemini', 'qwen'])('is found for hooks of a project of %s', async (name) => {
    const fixture = createAgentsFixture();
    const folders = JSON.stringify({ [fixture.project]: 'DO_NOT_TRUST' });
    write(path.join(fixture.home, `.${name}/trustedFolders.json`), folders);
    await enable(name, fixture, 'project');
    expect(listCodes(await inspect(name, fixture.machine))).toEqual(['not-trusted']);
  });

  it('is found for hooks of a repository of copilot, until it is trusted', async () => {
    const fixture = createAgentsFixture();
    await enable('copilot', fixture, 'project');
    expect(listCodes(await inspect('copilot', fixture.machine))).toEqual(['not-trusted']);
    const trusted = JSON.stringify({ trusted_folders: [fixture.project] });
    write(path.join(fixture.home, '.copilot/config.json'), trusted);
    expect(listCodes(await inspect('copilot', fixture.machine))).toEqual([]);
  });

  /** Answers as `codex app-server` 0.166.0 does, with the hooks of the file and one state for all. */
  const SERVER = `#!${process.execPath}
const { readFileSync } = require('node:fs');
const file = process.env.HOME + '/.codex/hooks.json';
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize') console.log(JSON.stringify({ id, result: { codexHome: '' } }));
  if (method !== 'hooks/list') return;
  const { hooks } = JSON.parse(readFileSync(file, 'utf8'));
  const list = Object.values(hooks).flat().flatMap((group) => group.hooks);
  console.log(JSON.stringify({ method: 'remoteControl/status/changed', params: {} }));
  console.log(JSON.stringify({ id, result: { data: [{ cwd: '/', hooks: list.map(({ command }) => ({
    command, sourcePath: file, enabled: process.env.STATE !== 'disabled', trustStatus: process.env.STATE })) }] } }));
});
`;

  it.each([
    ['untrusted', ['not-trusted']],
    ['modified', ['not-trusted']],
    ['disabled', ['hooks-off']],
    ['trusted', []],
  ])('is asked of the server of codex: %s', async (state, codes) => {
    const fixture = createAgentsFixture({ STATE: state });
    addProgram(fixture, 'codex', SERVER);
    await enable('codex', fixture);
    const status = await inspect('codex', fixture.machine);
    expect(listCodes(status)).toEqual(codes);
    expect(status.causes[0]?.message ?? '/hooks').toContain('/hooks');
  });

  it.each(['#!/bin/sh\nexit 1\n', '#!/bin/sh\necho not JSON\n'])(
    'is not guessed when the server of codex does not answer: %s',
    async (text) => {
      const fixture = createAgentsFixture();
      addProgram(fixture, 'codex', text);
      await enable('codex', fixture);
      expect(listCodes(await inspect('codex', fixture.machine))).toEqual([]);
    },
  );
});

describe('a settings file', () => {
  it('that is broken is named with its line', async () => {
    const fixture = createAgentsFixture();
    await enable('claude', fixture);
    const file = path.join(fixture.home, '.claude/settings.json');
    edit(file, (text) => text.replace('"Stop"', 'Stop'));
    const status = await inspect('claude', fixture.machine);
    expect(status.state).toBe('broken');
    expect(status.causes).toMatchObject([
      { code: 'file-broken', message: expect.stringMatching(/settings\.json.*line \d+/) },
    ]);
  });

  it('of droid that is wrapped is named', async () => {
    const fixture = createAgentsFixture();
    write(path.join(fixture.home, '.factory/hooks.json'), '{ "hooks": { "Stop": [] } }');
    await enable('droid', fixture);
    expect(listCodes(await inspect('droid', fixture.machine))).toEqual(['file-wrapped']);
  });

  it('of droid that is shadowed is named', async () => {
    const fixture = createAgentsFixture();
    const guard = { hooks: [{ type: 'command', command: 'guard.sh' }] };
    write(
      path.join(fixture.home, '.factory/settings.json'),
      JSON.stringify({ hooks: { Stop: [guard] } }),
    );
    await enable('droid', fixture);
    expect(listCodes(await inspect('droid', fixture.machine))).toEqual([]);
    edit(path.join(fixture.home, '.factory/hooks.json'), (text) =>
      JSON.stringify({ ...JSON.parse(text), Stop: [guard] }),
    );
    const status = await inspect('droid', fixture.machine);
    expect(status.state).toBe('broken');
    expect(listCodes(status)).toContain('file-shadowed');
  });

  it('that lost an entry is broken until it is enabled again', async () => {
    const fixture = createAgentsFixture();
    await enable('codex', fixture);
    edit(path.join(fixture.home, '.codex/hooks.json'), (text) => {
      const { hooks } = JSON.parse(text);
      delete hooks.Stop;
      return JSON.stringify({ hooks });
    });
    const status = await inspect('codex', fixture.machine);
    expect([status.state, listCodes(status)]).toEqual(['broken', ['entries-missing']]);
    await enable('codex', fixture);
    expect(await inspect('codex', fixture.machine)).toMatchObject({
      state: 'installed',
      causes: [],
    });
  });

  it.each([
    ['claude', '.claude/settings.json', '"matcher": "*"', '"matcher": "Shell"'],
    ['qwen', '.qwen/settings.json', '"matcher": "*"', '"matcher": "^Bash$"'],
    ['qwen', '.qwen/settings.json', '"matcher": "*"', '"matcher": "["'],
  ])('whose matcher fits no tool of %s is named', async (name, file, from, to) => {
    const fixture = createAgentsFixture();
    await enable(name, fixture);
    edit(path.join(fixture.home, file), (text) => text.replaceAll(from, to));
    const codes = new Set(listCodes(await inspect(name, fixture.machine)));
    expect([...codes]).toEqual(['matcher-fits-nothing']);
    await enable(name, fixture);
    expect(listCodes(await inspect(name, fixture.machine))).toEqual([]);
  });

  it.each([
    ['claude', '.claude/settings.json', '"timeout": 30', '"timeout": 1'],
    ['gemini', '.gemini/settings.json', '"timeout": 30000', '"timeout": 30'],
    ['cursor', '.cursor/hooks.json', '"timeout": 30', '"timeout": 2'],
  ])('whose time limit for %s is below ours is named', async (name, file, from, to) => {
    const fixture = createAgentsFixture();
    await enable(name, fixture);
    edit(path.join(fixture.home, file), (text) => text.replaceAll(from, to));
    const codes = new Set(listCodes(await inspect(name, fixture.machine)));
    expect([...codes]).toEqual(['time-limit-short']);
  });

  it('of cline that somebody else has taken is occupied', async () => {
    const fixture = createAgentsFixture();
    write(path.join(fixture.home, 'Documents/Cline/Hooks/PreToolUse'), '#!/bin/sh\n');
    const status = await inspect('cline', fixture.machine);
    expect([status.state, listCodes(status)]).toEqual(['occupied', ['file-occupied']]);
  });

  it('with entries of the vanished package is named with what replaces them', async () => {
    const fixture = createAgentsFixture();
    const command = 'npx @principal-ai/agent-hooks claude-hook --port 3043';
    const group = { matcher: '*', hooks: [{ type: 'command', command }] };
    write(
      path.join(fixture.home, '.claude/settings.json'),
      JSON.stringify({ hooks: { Stop: [group] } }),
    );
    const status = await inspect('claude', fixture.machine);
    expect(status.state).toBe('off');
    expect(status.causes).toMatchObject([
      {
        code: 'former-package',
        message: expect.stringContaining('agents enable claude --replace'),
      },
    ]);
  });
});

describe('the scope of an entry', () => {
  it('is wrong when it is installed for another project only', async () => {
    const fixture = createAgentsFixture();
    await enable('codex', fixture, 'project');
    const other = path.join(path.dirname(fixture.project), 'other');
    mkdirSync(other);
    const status = await inspect('codex', { ...fixture.machine, project: other });
    expect([status.state, listCodes(status)]).toEqual(['off', ['wrong-scope']]);
    expect(status.causes[0]?.message).toContain(fixture.project);
  });

  it('is wrong when both are installed, so that events would be recorded twice', async () => {
    const fixture = createAgentsFixture();
    await enable('gemini', fixture);
    await enable('gemini', fixture, 'project');
    const status = await inspect('gemini', fixture.machine);
    expect(listCodes(status)).toContain('wrong-scope');
  });
});

describe('the script of an entry', () => {
  it.each([
    ['is missing', 'program-missing', (script: string) => rmSync(script)],
    ['is not executable', 'not-executable', (script: string) => chmodSync(script, 0o600)],
    [
      'needs an interpreter that is missing',
      'interpreter-missing',
      (script: string) => edit(script, (text) => text.replace(/^#!.*/, '#!/nowhere/bash -p')),
    ],
    [
      'was changed',
      'script-changed',
      (script: string) => edit(script, (text) => `${text}exit 1\n`),
    ],
  ])('that %s is named, and written again', async (_, code, change) => {
    const fixture = createAgentsFixture();
    await enable('claude', fixture);
    change(path.join(fixture.machine.stateDirectory, 'bin/hook'));
    const status = await inspect('claude', fixture.machine);
    expect(status.state).toBe('broken');
    expect(listCodes(status)).toContain(code);
    await enable('claude', fixture);
    expect(await inspect('claude', fixture.machine)).toMatchObject({
      state: 'installed',
      causes: [],
    });
  });

  it('that starts a Node which is gone is named', async () => {
    const fixture = createAgentsFixture();
    const node = path.join(fixture.home, 'old-node');
    symlinkSync(process.execPath, node);
    const { machine } = fixture;
    const older = { ...machine, surroundings: { ...machine.surroundings, nodePath: node } };
    await enableAgent(older, 'claude', { scope: 'user', now: Date.now() });
    expect(await inspect('claude', older)).toMatchObject({ state: 'installed', causes: [] });
    rmSync(node);
    expect(listCodes(await inspect('claude', older))).toEqual(['program-missing']);
  });

  it('of cline without its executable bit is named', async () => {
    const fixture = createAgentsFixture();
    await enable('cline', fixture);
    chmodSync(path.join(fixture.home, 'Documents/Cline/Hooks/PreToolUse'), 0o644);
    const status = await inspect('cline', fixture.machine);
    expect([status.state, listCodes(status)]).toEqual(['broken', ['not-executable']]);
  });
});

describe('the agent itself', () => {
  it('is missing when neither its program nor its directory is there', async () => {
    const fixture = createAgentsFixture();
    await enable('cursor', fixture, 'project');
    rmSync(path.join(fixture.home, '.cursor'), { recursive: true });
    expect(listCodes(await inspect('cursor', fixture.machine))).toEqual(['agent-missing']);
  });

  it.each([
    ['claude', '1.0.37 (Claude Code)', ['agent-too-old']],
    ['claude', '2.1.325 (Claude Code)', []],
    ['gemini', '0.9.0', ['agent-too-old']],
    ['gemini', 'no version', []],
  ])('is %s, which prints %s', async (name, version, codes) => {
    const fixture = createAgentsFixture();
    addProgram(fixture, name, `#!/bin/sh\necho '${version}'\n`);
    await enable(name, fixture);
    expect(listCodes(await inspect(name, fixture.machine))).toEqual(codes);
  });

  it('was not restarted since, unless an event has come', async () => {
    const fixture = createAgentsFixture();
    const program = addProgram(fixture, 'qwen', '#!/bin/sh\necho started\nread line\n');
    const agent: ChildProcess = spawn(program, [], {
      env: { PATH: '/usr/bin:/bin', HOME: fixture.home },
    });
    onTestFinished(() => void agent.kill());
    if (agent.stdout !== null) await once(agent.stdout, 'data');
    await enableAgent(fixture.machine, 'qwen', { scope: 'user', now: Date.now() + 60_000 });
    const status = await inspect('qwen', fixture.machine);
    expect(status.causes).toMatchObject([
      { code: 'not-restarted', message: expect.stringContaining(String(agent.pid)) },
    ]);
    const lastEvent = { name: 'Stop', at: Date.now() + 120_000 };
    const later = await inspect('qwen', fixture.machine, { lastEvent, lastFailure: null });
    expect(listCodes(later)).toEqual([]);
  });
});
