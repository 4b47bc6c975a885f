import { expect } from 'vitest';
import { bash, command, type Group, hooks, type OpenFixture, type Fixture } from '../../fixture.ts';

const createTouchHook = (name: string): object => hooks('PreToolUse', [command(`: > ran-${name}`)]);
const text = (name: string): string => JSON.stringify(createTouchHook(name));

/** Files with comments and trailing commas between strict ones, and files that are never read. */
async function session(openFixture: OpenFixture): Promise<Fixture> {
  const fixture = await openFixture({
    user: createTouchHook('user'),
    flag: createTouchHook('flag'),
    files: {
      '.claude/settings.json': text('project').replace('{', '{ // mine\n'),
      '.claude/settings.local.json': text('local').replace(/\}$/u, ',}'),
      '.claude/hooks.json': createTouchHook('claude-hooks-json'),
      'hooks/hooks.json': createTouchHook('hooks-hooks-json'),
    },
    home: {
      '.claude/hooks.json': createTouchHook('home-hooks-json'),
      '.claude/hooks/hooks.json': createTouchHook('home-hooks-hooks-json'),
      '.claude/settings.local.json': createTouchHook('home-local'),
    },
  });
  await fixture.fire('PreToolUse', bash('echo hi'));
  return fixture;
}

const runs = (name: string) => async (openFixture: OpenFixture) => {
  const { has } = await session(openFixture);
  expect(has(name)).toBe(true);
};

export const invalidJson: Group = {
  name: '19-invalid-json',
  cases: [
    { name: 'ran-flag', run: runs('ran-flag') },
    { name: 'ran-user', run: runs('ran-user') },
    { name: 'settings.json', run: runs('ran-project') },
    { name: 'settings.local.json', run: runs('ran-local') },
    { name: 'files that are not read', run: readsNoOthers },
    { name: 'what is no JSON at all', run: reportsBroken },
  ],
};

async function readsNoOthers(openFixture: OpenFixture): Promise<void> {
  const { has, host, directory } = await session(openFixture);
  const unread = host
    .ignored()
    .filter(({ why }) => why.startsWith('is not read'))
    .map(({ path }) => path.replace(directory, ''));
  expect(unread.toSorted()).toEqual([
    '/home/.claude/hooks.json',
    '/home/.claude/hooks/hooks.json',
    '/home/.claude/settings.local.json',
    '/work/project/.claude/hooks.json',
    '/work/project/hooks/hooks.json',
  ]);
  const names = ['claude-hooks-json', 'hooks-hooks-json', 'home-hooks-json', 'home-local'];
  expect(names.filter((name) => has(`ran-${name}`))).toEqual([]);
}

/** The file is named, with the line, and may have held a guard, so every call reports it. */
async function reportsBroken(openFixture: OpenFixture): Promise<void> {
  const { fire, has, host, root } = await openFixture({
    user: createTouchHook('user'),
    files: {
      '.claude/settings.json': '{ "hooks": {\n "PreToolUse": [ { "hooks": [ ',
      '.claude/settings.local.json': 'not JSON at all',
    },
  });
  const { outcomes } = await fire('PreToolUse', bash('echo hi'));
  expect(has('ran-user')).toBe(true);
  const failed = outcomes.filter(({ status }) => status === 'failed').map(({ source }) => source);
  expect(failed.map((source) => source.replace(root, ''))).toEqual([
    expect.stringMatching(/^\/\.claude\/settings\.json:\d+$/u),
    expect.stringMatching(/^\/\.claude\/settings\.local\.json:\d+$/u),
  ]);
  const ignored = host.ignored().filter(({ mayHideHook }) => mayHideHook);
  expect(ignored.map(({ path }) => path.replace(root, ''))).toEqual([
    '/.claude/settings.json',
    '/.claude/settings.local.json',
  ]);
  expect(host.hooks().filter(({ state }) => state === 'broken')).toEqual([]);
}
