import { expect, test } from 'vitest';
import { createAgentFixture } from '../../agent/agent-fixture.ts';
import { answersIn, calls, createModelRecorder } from '../../agent/scripted-session.ts';
import { write } from '../../base/directory.ts';
import { createTempWorkspace, hostIn, trustWorkspace } from '../../host/temp-workspace.ts';

const SKILL = `---
name: secure
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: 'echo no >&2; exit 2'
---
`;
const AGENT = SKILL.replace('name: secure', 'name: rev');

const CALL = {
  name: 'PreToolUse',
  tool: { callId: '1', name: 'Bash', input: { command: 'ls' } },
} as const;

test('hooks of a skill are listed, and count once the skill is used', async () => {
  const workspace = createTempWorkspace({ 'home/.claude/skills/secure/SKILL.md': SKILL });
  const host = await hostIn(workspace);
  expect(host.hooks()).toMatchObject([{ hook: { id: 'claude:skill:secure:PreToolUse:echo' } }]);
  expect(await host.engine.dispatch(CALL)).toMatchObject({
    effect: 'pass',
    skipped: [{ why: 'only once the skill secure is used' }],
  });
  expect(await host.engine.dispatch({ ...CALL, skills: ['secure'] })).toMatchObject({
    effect: 'deny',
  });
});

test('hooks of a slash command are listed, and count once it is used', async () => {
  const workspace = createTempWorkspace({
    'home/.claude/commands/git/commands/push.md': SKILL,
    'home/.claude/commands/plain.md': '---\ndescription: no hooks\n---\n',
  });
  const host = await hostIn(workspace);
  expect(host.hooks()).toMatchObject([
    { hook: { id: 'claude:command:git:commands:push:PreToolUse:echo' } },
  ]);
  expect(await host.engine.dispatch(CALL)).toMatchObject({
    effect: 'pass',
    skipped: [{ why: 'only once /git:commands:push is used' }],
  });
  expect(await host.engine.dispatch({ ...CALL, skills: ['git:commands:push'] })).toMatchObject({
    effect: 'deny',
  });
});

test('an agent is guarded by the hooks of a command once it was typed', async () => {
  const fixture = createAgentFixture();
  fixture.write('.claude/commands/git/push.md', `${SKILL}Push it.\n`);
  const recorder = createModelRecorder([
    calls(['Bash', { command: 'echo before' }]),
    { text: 'Done.' },
    calls(['Bash', { command: 'echo after' }]),
    { text: 'Done.' },
  ]);
  const host = await fixture.open({ model: recorder.model, trust: 'all' });
  const session = await host.start({ prompt: 'go' });
  await host.send(session.sessionId, '/git:push');
  expect(answersIn(recorder)).toEqual(['before', expect.stringContaining('no')]);
});

test('hooks of a plugin’s command get the plugin’s variables, and count once it is used', async () => {
  const { 'ws/plug/skills/secure/SKILL.md': text, ...plugin } = PLUGIN;
  const workspace = createTempWorkspace({ ...plugin, 'ws/plug/commands/secure.md': text });
  const pluginDirectories = [`${workspace.root}/plug`];
  const host = await hostIn(workspace, { pluginDirectories, trust: 'all' });
  expect(host.hooks()).toMatchObject([
    { hook: { id: 'claude:plugin:fmt:commands/secure:PreToolUse:refuse.sh' } },
  ]);
  const { reasons } = await host.engine.dispatch({ ...CALL, skills: ['fmt:secure'] });
  expect(reasons.map((reason) => reason.text.split(': ').at(-1))).toEqual([
    `no from ${pluginDirectories[0]}`,
  ]);
});

test('hooks of a sub-agent are listed, and count while it runs', async () => {
  const workspace = createTempWorkspace({ 'home/.claude/agents/rev.md': AGENT });
  const host = await hostIn(workspace);
  expect((await host.engine.dispatch(CALL)).effect).toBe('pass');
  const agent = { id: 'a', parentId: 'main', type: 'rev' };
  expect((await host.engine.dispatch({ ...CALL, agent })).effect).toBe('deny');
});

const PLUGIN = {
  'ws/plug/.claude-plugin/plugin.json': '{ "name": "fmt" }',
  'ws/plug/refuse.sh': 'echo "no from $CLAUDE_PLUGIN_ROOT" >&2; exit 2',
  'ws/plug/skills/secure/SKILL.md': SKILL.replace(
    'echo no >&2; exit 2',
    'sh "${CLAUDE_PLUGIN_ROOT}"/refuse.sh',
  ),
};

test('hooks of a plugin’s skill get the plugin’s variables, and count once the skill is used', async () => {
  const workspace = createTempWorkspace(PLUGIN);
  const pluginDirectories = [`${workspace.root}/plug`];
  const host = await hostIn(workspace, { pluginDirectories, trust: 'all' });
  expect(await host.engine.dispatch({ ...CALL, skills: ['secure'] })).toMatchObject({
    effect: 'pass',
    skipped: [{ why: 'only once the skill fmt:secure is used' }],
  });
  const { effect, reasons } = await host.engine.dispatch({ ...CALL, skills: ['fmt:secure'] });
  expect(effect).toBe('deny');
  expect(reasons.map(({ text }) => text.split(': ').at(-1))).toEqual([
    `no from ${pluginDirectories[0]}`,
  ]);
});

test('an agent that uses a plugin’s skill is guarded by its hooks from then on', async () => {
  const fixture = createAgentFixture();
  for (const [name, text] of Object.entries(PLUGIN)) fixture.write(name.replace('ws/', ''), text);
  const recorder = createModelRecorder([
    calls(['Bash', { command: 'echo before' }]),
    calls(['Skill', { skill: 'fmt:secure' }]),
    calls(['Bash', { command: 'echo after' }]),
    { text: 'Done.' },
  ]);
  const host = await fixture.open({
    model: recorder.model,
    pluginDirectories: [`${fixture.workspace}/plug`],
    trust: 'all',
  });
  await host.start({ prompt: 'go' });
  expect(answersIn(recorder)).toEqual([
    'before',
    expect.stringContaining('plug/skills/secure'),
    expect.stringContaining(`no from ${fixture.workspace}/plug`),
  ]);
});

test('hooks of a plugin’s skill are trusted with all of a plugin in the workspace', async () => {
  const workspace = createTempWorkspace(PLUGIN);
  const options = { pluginDirectories: [`${workspace.root}/plug`] };
  expect((await hostIn(workspace, options)).hooks()).toMatchObject([
    { hook: { id: 'claude:plugin:fmt:skills/secure:PreToolUse:refuse.sh' }, state: 'untrusted' },
  ]);
  await trustWorkspace(workspace, options);
  expect((await hostIn(workspace, options)).hooks()).toMatchObject([{ state: 'ready' }]);
  write(`${workspace.root}/plug/refuse.sh`, 'exit 0');
  expect((await hostIn(workspace, options)).hooks()).toMatchObject([{ state: 'modified' }]);
});

test('hooks of a workspace’s skill wait for trust', async () => {
  const workspace = createTempWorkspace({ 'ws/.claude/skills/secure/SKILL.md': SKILL });
  const host = await hostIn(workspace);
  expect(host.hooks()).toMatchObject([{ state: 'untrusted' }]);
  const verdict = await host.engine.dispatch({ ...CALL, skills: ['secure'] });
  expect(verdict).toMatchObject({ effect: 'pass', skipped: [{ kind: 'withheld' }] });
});

test('the same guard in two roots guards both', async () => {
  const settings = JSON.stringify({
    hooks: {
      PreToolUse: [{ hooks: [{ type: 'command', command: 'sh "$CLAUDE_PROJECT_DIR"/guard.sh' }] }],
    },
  });
  const workspace = createTempWorkspace({
    'ws/one/.cline/hooks.json': settings,
    'ws/one/guard.sh': 'echo one >&2; exit 2',
    'ws/two/.cline/hooks.json': settings,
    'ws/two/guard.sh': 'echo two >&2; exit 2',
  });
  const roots = [`${workspace.root}/one`, `${workspace.root}/two`];
  const host = await hostIn(workspace, { roots, trust: 'all' });
  const { reasons } = await host.engine.dispatch(CALL);
  expect(reasons.map(({ text }) => text.split(': ').at(-1))).toEqual(['one', 'two']);
});
