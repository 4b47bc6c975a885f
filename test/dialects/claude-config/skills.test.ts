import { expect, test } from 'vitest';
import { createPlaces, hostIn } from '../../host/places.ts';

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
  const places = createPlaces({ 'home/.claude/skills/secure/SKILL.md': SKILL });
  const host = await hostIn(places);
  expect(host.hooks()).toMatchObject([{ hook: { id: 'claude:skill:secure:PreToolUse:echo' } }]);
  expect(await host.engine.dispatch(CALL)).toMatchObject({
    effect: 'pass',
    skipped: [{ why: 'only once the skill secure is used' }],
  });
  expect(await host.engine.dispatch({ ...CALL, skills: ['secure'] })).toMatchObject({
    effect: 'deny',
  });
});

test('hooks of a sub-agent are listed, and count while it runs', async () => {
  const places = createPlaces({ 'home/.claude/agents/rev.md': AGENT });
  const host = await hostIn(places);
  expect((await host.engine.dispatch(CALL)).effect).toBe('pass');
  const agent = { id: 'a', parentId: 'main', type: 'rev' };
  expect((await host.engine.dispatch({ ...CALL, agent })).effect).toBe('deny');
});

test('hooks of a workspace’s skill wait for trust', async () => {
  const places = createPlaces({ 'ws/.claude/skills/secure/SKILL.md': SKILL });
  const host = await hostIn(places);
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
  const places = createPlaces({
    'ws/one/.cline/hooks.json': settings,
    'ws/one/guard.sh': 'echo one >&2; exit 2',
    'ws/two/.cline/hooks.json': settings,
    'ws/two/guard.sh': 'echo two >&2; exit 2',
  });
  const roots = [`${places.root}/one`, `${places.root}/two`];
  const host = await hostIn(places, { roots, trust: 'all' });
  const { reasons } = await host.engine.dispatch(CALL);
  expect(reasons.map(({ text }) => text.split(': ').at(-1))).toEqual(['one', 'two']);
});
