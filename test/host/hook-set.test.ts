import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Host } from '../../src/host/create-host.ts';
import { SESSION_MARKER, toTrustUnit } from '../../src/host/hook-set.ts';
import type { Settings } from '../../src/host/settings.ts';
import { createLock, formatLock } from '../../src/trust/lock.ts';
import { revokeTrust } from '../../src/trust/trust-record.ts';
import { trustFilesOf } from '../trust/workspace.ts';
import { write } from '../base/directory.ts';
import {
  answering,
  createTempWorkspace,
  HOOKS,
  hostIn,
  type TempWorkspace,
  trustWorkspace,
} from './temp-workspace.ts';

const ID = 'cline:workspace:PreToolUse.mjs';
const DENY = answering({ cancel: true, errorMessage: 'no' });
const CALL = {
  name: 'PreToolUse',
  tool: { callId: 'c', name: 'Bash', input: { command: 'ls' } },
} as const;

function workspace(): TempWorkspace {
  return createTempWorkspace({ [`ws/${HOOKS}/PreToolUse.mjs`]: DENY });
}

async function statusIn(workspace: TempWorkspace, options: Parameters<typeof hostIn>[1] = {}) {
  const host = await hostIn(workspace, options);
  const [status] = host.hooks();
  const { hook: _hook, found: _found, ...rest } = status ?? { hook: null, found: null };
  return rest;
}

const LIMITS = { timeoutMs: 30_000, onFailure: 'open' };

describe('trust', () => {
  test('an untrusted workspace hook does not run and is reported', async () => {
    const host = await hostIn(workspace());
    expect(await host.engine.dispatch(CALL)).toMatchObject({
      effect: 'pass',
      outcomes: [],
      skipped: [{ hook: ID, why: 'untrusted: it was never trusted here' }],
    });
  });

  test('a trusted hook runs', async () => {
    const ownWorkspace = workspace();
    await trustWorkspace(ownWorkspace);
    expect(await statusIn(ownWorkspace)).toEqual({
      state: 'ready',
      why: '',
      isEnabled: true,
      wasDisabled: false,
      trustedBy: 'record',
      ...LIMITS,
    });
    const host = await hostIn(ownWorkspace);
    expect(await host.engine.dispatch(CALL)).toMatchObject({
      effect: 'deny',
      reasons: [{ hook: ID, text: 'no' }],
    });
  });

  test('a hook that changed since is modified and does not run, also in a host that is open', async () => {
    const ownWorkspace = workspace();
    await trustWorkspace(ownWorkspace);
    const host = await hostIn(ownWorkspace);
    write(path.join(ownWorkspace.root, HOOKS, 'PreToolUse.mjs'), `${DENY}// more\n`);
    expect(await host.engine.dispatch(CALL)).toMatchObject({
      effect: 'pass',
      outcomes: [],
      skipped: [
        { hook: ID, why: `modified: ${HOOKS}/PreToolUse.mjs changed since it was trusted` },
      ],
    });
    expect(await statusIn(ownWorkspace)).toMatchObject({ state: 'modified', trustedBy: null });
  });

  test('a file beside the hook belongs to what was trusted', async () => {
    const ownWorkspace = workspace();
    await trustWorkspace(ownWorkspace);
    write(path.join(ownWorkspace.root, HOOKS, 'helper.js'), '');
    expect(await statusIn(ownWorkspace)).toMatchObject({ state: 'modified' });
  });

  test('everything runs with `trust: all`', async () => {
    expect(await statusIn(workspace(), { trust: 'all' })).toMatchObject({
      state: 'ready',
      trustedBy: 'caller',
    });
  });

  test('a lock that the caller names allows its hooks; a lock file that merely exists does not', async () => {
    const ownWorkspace = workspace();
    const host = await hostIn(ownWorkspace);
    const lock = formatLock(createLock(host.hooks().map(({ hook }) => toTrustUnit(hook))));
    const file = write(path.join(ownWorkspace.root, 'hookline.lock.json'), lock);
    expect(await statusIn(ownWorkspace)).toMatchObject({ state: 'untrusted' });
    expect(await statusIn(ownWorkspace, { lock: { file } })).toMatchObject({
      state: 'ready',
      trustedBy: 'lock',
    });
  });

  test('personal and given hooks run because of where they lie', async () => {
    const workspace = createTempWorkspace({
      'home/.cline/hooks/TaskStart.mjs': DENY,
      'extra/TaskStart.mjs': DENY,
    });
    const host = await hostIn(workspace, { hooksDirectory: path.join(workspace.base, 'extra') });
    expect(host.hooks().map(({ hook, state, trustedBy }) => [hook.id, state, trustedBy])).toEqual([
      ['cline:home:TaskStart.mjs', 'ready', 'place'],
      ['cline:given:TaskStart.mjs', 'ready', 'caller'],
    ]);
  });

  test('without a home nothing of a workspace is trusted', async () => {
    const ownWorkspace = workspace();
    const surroundings = { ...ownWorkspace.surroundings, home: null };
    expect(await statusIn({ ...ownWorkspace, surroundings })).toMatchObject({
      state: 'untrusted',
      why: 'no home directory, so there is no trust record',
    });
  });
});

describe('switches', () => {
  const off = (disabled: Settings['hooks.disabled']) => ({
    trust: 'all' as const,
    flags: { 'hooks.disabled': disabled },
  });

  test.each([
    ['by id', [{ id: ID, root: null }], 'disabled'],
    ['by another id', [{ id: 'cline:workspace:PreToolUse', root: null }], 'ready'],
    ['in another workspace', [{ id: ID, root: '/elsewhere' }], 'ready'],
  ] as const)('%s', async (_, disabled, state) => {
    expect(await statusIn(workspace(), off(disabled))).toMatchObject({ state });
  });

  test('in this workspace only', async () => {
    const ownWorkspace = workspace();
    const options = off([{ id: ID, root: ownWorkspace.root }]);
    const host = await hostIn(ownWorkspace, options);
    expect(await host.engine.dispatch(CALL)).toMatchObject({
      outcomes: [],
      skipped: [{ hook: ID, why: 'disabled' }],
    });
  });

  test('all hooks at once, by flag and by environment', async () => {
    const notices: string[] = [];
    const flagged = await hostIn(workspace(), {
      trust: 'all',
      flags: { 'hooks.enabled': false },
      onNotice: (notice) => notices.push(notice),
    });
    const { surroundings, ...rest } = workspace();
    const env = { ...surroundings.env, HOOKLINE_HOOKS: 'off' };
    const host = await hostIn(
      { ...rest, surroundings: { ...surroundings, env } },
      { trust: 'all' },
    );
    for (const each of [flagged, host]) {
      expect(each.hooks()).toEqual([]);
      expect((await each.engine.dispatch(CALL)).effect).toBe('pass');
    }
    expect(notices).toContainEqual(expect.stringContaining('hooks are disabled by'));
  });
});

describe('overrides', () => {
  const overriding = (overrides: Settings['hooks.overrides']) => ({
    trust: 'all' as const,
    flags: { 'hooks.overrides': overrides },
  });

  test('set the time and the failure policy of one hook', async () => {
    const options = overriding({ [ID]: { timeoutMs: 5, onFailure: 'block' } });
    expect(await statusIn(workspace(), options)).toMatchObject({
      timeoutMs: 5,
      onFailure: 'closed',
    });
  });

  test('may open one hook where failures block', async () => {
    const flags = {
      'hooks.onFailure': 'block',
      'hooks.overrides': { [ID]: { onFailure: 'open' } },
    } as const;
    expect(await statusIn(workspace(), { trust: 'all', flags })).toMatchObject({
      onFailure: 'open',
    });
    expect(
      await statusIn(workspace(), { trust: 'all', flags: { 'hooks.onFailure': 'block' } }),
    ).toMatchObject({ onFailure: 'closed' });
  });

  test('set the profile', async () => {
    const host = await hostIn(workspace(), overriding({ [ID]: { profile: 'sdk' } }));
    expect(host.hooks()[0]?.hook.details['profile']).toBe('sdk');
  });
});

describe('a broken hook', () => {
  const ownWorkspace = () =>
    createTempWorkspace({ [`ws/${HOOKS}/PreToolUse`]: '#!/nowhere/interpreter-x\n' });

  test('is found and fails on every dispatch', async () => {
    const host = await hostIn(ownWorkspace(), { trust: 'all' });
    expect(host.hooks()[0]).toMatchObject({
      state: 'broken',
      why: expect.stringContaining('interpreter-x'),
    });
    expect(await host.engine.dispatch(CALL)).toMatchObject({
      effect: 'pass',
      outcomes: [{ status: 'failed', failure: { kind: 'spawn' } }],
    });
  });

  test('refuses where failures block', async () => {
    const flags = { 'hooks.onFailure': 'block' } as const;
    const host = await hostIn(ownWorkspace(), { trust: 'all', flags });
    expect((await host.engine.dispatch(CALL)).effect).toBe('deny');
  });
});

describe('the environment of a hook', () => {
  const tell = `
    process.stdin.resume().on('end', () => console.log(JSON.stringify({
      context: JSON.stringify([process.env.OPENAI_API_KEY ?? null, process.env.OTHER, process.env.${SESSION_MARKER}]),
    })));
  `;
  const env = { OPENAI_API_KEY: 'provider key', OTHER: 'kept' };

  async function toldTo(file: string, flags: Partial<Settings> = {}): Promise<unknown> {
    const host = await hostIn(createTempWorkspace({ [file]: tell }, env), { trust: 'all', flags });
    const { context } = await host.engine.dispatch({ name: 'TaskStart', prompt: 'p' });
    expect(host.moment().sessionId).not.toBe('');
    const payloadFields: unknown = JSON.parse(context[0]?.text ?? 'null');
    return JSON.parse(
      JSON.stringify(payloadFields).replace(host.moment().sessionId, 'the session'),
    );
  }

  test('of a workspace has no provider keys, but says which session it is in', async () => {
    expect(await toldTo(`ws/${HOOKS}/TaskStart.mjs`)).toEqual([null, 'kept', 'the session']);
  });

  test('of a workspace has the keys that the user passes', async () => {
    const flags = { 'env.pass': ['OPENAI_API_KEY'] };
    expect(await toldTo(`ws/${HOOKS}/TaskStart.mjs`, flags)).toEqual([
      'provider key',
      'kept',
      'the session',
    ]);
  });

  test('of the user has everything', async () => {
    expect(await toldTo('home/.cline/hooks/TaskStart.mjs')).toEqual([
      'provider key',
      'kept',
      'the session',
    ]);
  });
});

test('looking again finds new hooks, and subscribers are called', async () => {
  const ownWorkspace = workspace();
  const host = await hostIn(ownWorkspace, { trust: 'all' });
  write(path.join(ownWorkspace.root, HOOKS, 'TaskStart.mjs'), DENY);
  expect(host.hooks()).toHaveLength(1);
  host.rescan();
  expect(host.hooks().map(({ hook }) => hook.eventName)).toEqual(['PreToolUse', 'TaskStart']);
  expect((await host.engine.dispatch({ name: 'TaskStart', prompt: 'p' })).effect).toBe('deny');
});

describe('what another process decides while the host is open', () => {
  const configOf = ({ home }: TempWorkspace): string => path.join(home, '.hookline/config.json');
  const effectIn = async (host: Host): Promise<string> => (await host.engine.dispatch(CALL)).effect;

  test('a hook that is no longer trusted does not run again', async () => {
    const ownWorkspace = workspace();
    await trustWorkspace(ownWorkspace);
    const host = await hostIn(ownWorkspace);
    expect(await effectIn(host)).toBe('deny');
    await revokeTrust(trustFilesOf(ownWorkspace.home), { root: ownWorkspace.root });
    expect(await host.engine.dispatch(CALL)).toMatchObject({
      effect: 'pass',
      skipped: [{ hook: ID, why: 'untrusted: it was never trusted here' }],
    });
    expect(host.hooks()).toMatchObject([{ state: 'untrusted' }]);
  });

  test('a hook that is trusted again runs', async () => {
    const ownWorkspace = workspace();
    await trustWorkspace(ownWorkspace);
    const host = await hostIn(ownWorkspace);
    write(path.join(ownWorkspace.root, HOOKS, 'PreToolUse.mjs'), `${DENY}// more\n`);
    expect(await effectIn(host)).toBe('pass');
    await trustWorkspace(ownWorkspace);
    expect(await effectIn(host)).toBe('deny');
  });

  test('an entry that another program wrote into the record counts for nothing', async () => {
    const ownWorkspace = workspace();
    await trustWorkspace(ownWorkspace);
    const text = readFileSync(trustFilesOf(ownWorkspace.home).record, 'utf8');
    await revokeTrust(trustFilesOf(ownWorkspace.home), { root: ownWorkspace.root });
    const host = await hostIn(ownWorkspace);
    writeFileSync(trustFilesOf(ownWorkspace.home).record, text);
    expect(await effectIn(host)).toBe('pass');
    expect(host.hooks()).toMatchObject([{ state: 'untrusted' }]);
  });

  test('an entry that another process removed from the record no longer counts', async () => {
    const ownWorkspace = workspace();
    await trustWorkspace(ownWorkspace);
    const host = await hostIn(ownWorkspace);
    expect(await effectIn(host)).toBe('deny');
    writeFileSync(trustFilesOf(ownWorkspace.home).record, '{"version": 1, "entries": []}');
    expect(await effectIn(host)).toBe('pass');
  });

  test('a hook that is switched off does not run until it is switched on again', async () => {
    const ownWorkspace = workspace();
    const host = await hostIn(ownWorkspace, { trust: 'all' });
    expect(await effectIn(host)).toBe('deny');
    write(configOf(ownWorkspace), JSON.stringify({ hooks: { disabled: [ID] } }));
    expect(await host.engine.dispatch(CALL)).toMatchObject({
      effect: 'pass',
      skipped: [{ hook: ID, why: 'disabled' }],
    });
    expect(host.hooks()).toMatchObject([{ state: 'disabled' }]);
    write(configOf(ownWorkspace), JSON.stringify({ hooks: { disabled: [] } }));
    expect(await effectIn(host)).toBe('deny');
  });

  test('a configuration that breaks leaves the switches as they were', async () => {
    const ownWorkspace = workspace();
    write(configOf(ownWorkspace), JSON.stringify({ hooks: { disabled: [ID] } }));
    const host = await hostIn(ownWorkspace, { trust: 'all' });
    write(configOf(ownWorkspace), '{oops');
    expect(await effectIn(host)).toBe('pass');
  });

  test('a configuration cannot switch on what the caller switched off', async () => {
    const ownWorkspace = workspace();
    const flags = { 'hooks.disabled': [{ id: ID, root: null }] };
    const host = await hostIn(ownWorkspace, { trust: 'all', flags });
    write(configOf(ownWorkspace), JSON.stringify({ hooks: { disabled: [] } }));
    expect(await effectIn(host)).toBe('pass');
  });

  test('a configuration that lies in the workspace switches nothing off', async () => {
    const ownWorkspace = workspace();
    const HOOKLINE_HOME = path.join(ownWorkspace.root, 'state');
    const { surroundings } = ownWorkspace;
    const host = await hostIn(ownWorkspace, {
      trust: 'all',
      surroundings: { ...surroundings, env: { ...surroundings.env, HOOKLINE_HOME } },
    });
    write(path.join(HOOKLINE_HOME, 'config.json'), JSON.stringify({ hooks: { disabled: [ID] } }));
    expect(await effectIn(host)).toBe('deny');
  });
});

describe('what the first line of a workspace hook names', () => {
  async function boundBy(line: string): Promise<readonly string[]> {
    const workspace = createTempWorkspace({
      [`ws/${HOOKS}/PreToolUse`]: `#!${line}\n`,
      'ws/tools/setup.mjs': '',
      'ws/tools/run.js': '',
      'ws/tools/node': '',
      'ws/plain.js': '',
    });
    const host = await hostIn(workspace);
    return host
      .hooks()
      .flatMap(({ hook }) => hook.binds.files.map((file) => path.relative(workspace.root, file)));
  }

  test.each([
    ['/usr/bin/env -S node --import ./tools/setup.mjs', ['tools/setup.mjs']],
    ['/usr/bin/env -S node --import=./tools/setup.mjs', ['tools/setup.mjs']],
    ['/usr/bin/env -S node -r./tools/run', ['tools/run', 'tools/run.js']],
    ['/usr/bin/env -S NODE_OPTIONS=--require=./plain.js node', ['plain.js']],
    [String.raw`/usr/bin/env -S node\_--import\_./tools/setup.mjs`, ['tools/setup.mjs']],
    ['/usr/bin/env -S node --import "${PWD}/tools/setup.mjs"', ['tools/setup.mjs']],
    ['/usr/bin/env -S node plain', ['plain.js']],
    ['/usr/bin/env -S python3 -m tools.run', ['tools.run', 'tools/run.js']],
    ['./tools/node', ['tools/node']],
    ['/usr/bin/env -S node ./later.mjs', ['later.mjs']],
  ])('%s binds %j', async (line, files) => {
    expect(await boundBy(line)).toEqual(files);
  });

  test.each(['/bin/sh -e', '/usr/bin/env node', '/usr/bin/python3.11', '../outside/node .'])(
    '%s binds nothing more',
    async (line) => {
      expect(await boundBy(line)).toEqual([]);
    },
  );
});
