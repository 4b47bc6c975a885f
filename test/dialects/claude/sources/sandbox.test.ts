import { describe, expect, test } from 'vitest';
import { createMachine, summarizeSources } from './sources-machine.ts';

function read(files: Readonly<Record<string, unknown>>) {
  const { sandboxes, short, why, ignored } = summarizeSources(createMachine(files));
  const limits = sandboxes.map((each) => each.limits);
  return {
    limits: JSON.parse(short(JSON.stringify(limits))) as readonly object[],
    why,
    hiding: ignored.filter(({ mayHideHook }) => mayHideHook === true).length,
  };
}

const readProject = (sandbox: unknown) => read({ 'proj/.claude/settings.json': { sandbox } });

test('every settings file may tighten, and paths are relative to its place', () => {
  const filesystem = { denyRead: ['secrets', '~/.netrc', '/srv/x'], denyWrite: ['./lock'] };
  const { limits, why } = read({
    'home/.claude/settings.json': { sandbox: { enabled: true, filesystem } },
    'proj/.claude/settings.json': { sandbox: { filesystem } },
    'proj/.claude/settings.local.json': { sandbox: { allowUnsandboxedCommands: false } },
    'etc/managed-settings.json': {
      sandbox: {
        enabled: true,
        network: { allowedDomains: ['a.test'], deniedDomains: ['b.test'] },
      },
    },
  });
  expect(limits).toMatchObject([
    {
      file: 'home/.claude/settings.json',
      isRequired: true,
      isManaged: false,
      unreadable: ['home/.claude/secrets', 'home/.netrc', '/srv/x'],
      unwritable: ['home/.claude/lock'],
      hosts: null,
    },
    { isRequired: false, unreadable: ['proj/secrets', 'home/.netrc', '/srv/x'] },
    { forbidsExit: true },
    { isManaged: true, isRequired: true, hosts: ['a.test'], deniedHosts: ['b.test'] },
  ]);
  expect(why).toEqual([]);
});

test('masked credentials are taken away, and what would hand them out is ignored', () => {
  const { limits, why, hiding } = readProject({
    network: { tlsTerminate: {}, allowedDomains: ['a.test'] },
    credentials: {
      files: [{ path: '~/.netrc', mode: 'mask', injectHosts: ['a.test'], extract: '(x)' }],
      envVars: [{ name: 'TOKEN', mode: 'mask', decode: 'jwt' }],
      allowPlaintextInject: true,
      awsPairs: [{ accessKeyIdVar: 'A', secretAccessKeyVar: 'B' }],
      sigv4: { streaming: 'passthrough' },
    },
  });
  expect(limits).toMatchObject([{ unreadable: ['home/.netrc'], removedVariables: ['TOKEN'] }]);
  expect(why).toEqual([
    expect.stringMatching(
      /ignored: "sandbox\.network\.tlsTerminate", "sandbox\.credentials\.allowPlaintextInject", "sandbox\.credentials\.awsPairs", "sandbox\.credentials\.sigv4"; /,
    ),
  ]);
  expect(hiding).toBe(0);
});

test('what would loosen is ignored, with one note that names file and keys', () => {
  const { limits, why } = readProject({
    enabled: false,
    autoAllowBashIfSandboxed: true,
    excludedCommands: ['docker'],
    allowUnsandboxedCommands: true,
    filesystem: { allowWrite: ['/'], allowRead: ['~/.ssh'] },
    network: { allowAllUnixSockets: true, allowedDomains: ['*'], allowLocalBinding: false },
  });
  expect(limits).toMatchObject([{ isRequired: false, forbidsExit: false, hosts: null }]);
  expect(why).toEqual([
    expect.stringMatching(
      /^proj\/\.claude\/settings\.json: line 2: ignored: "sandbox\.enabled", "sandbox\.autoAllowBashIfSandboxed", "sandbox\.excludedCommands", "sandbox\.filesystem\.allowWrite", "sandbox\.network\.allowAllUnixSockets", "sandbox\.filesystem\.allowRead"; /,
    ),
  ]);
});

describe('a part that cannot be read is reported as a guard', () => {
  test.each([
    [{ enabled: 'yes' }, { isRequired: true }],
    [{ allowUnsandboxedCommands: 'no' }, { forbidsExit: true }],
    [{ filesystem: { denyRead: '/srv/x' } }, { unreadable: ['/srv/x'] }],
    [{ filesystem: { denyRead: [7, '/srv/x'] } }, { unreadable: ['/srv/x'] }],
    [{ network: { allowedDomains: 7 } }, { hosts: [] }],
    [{ filesytem: { denyRead: ['/srv/x'] } }, {}],
    [{ filesystem: { denyReads: ['/srv/x'] } }, {}],
    [{ filesystem: ['/srv/x'] }, {}],
    [{ credentials: { files: [{ file: '/srv/x' }] } }, {}],
    ['on', {}],
  ])('%j', (sandbox, expected) => {
    const { limits, hiding } = readProject(sandbox);
    expect(limits).toMatchObject([expected]);
    expect(hiding).toBeGreaterThan(0);
  });
});

test('credentials are hidden, files and variables', () => {
  const { limits, why } = readProject({
    credentials: {
      files: [
        { path: '~/.npmrc', mode: 'deny' },
        { path: '/srv/x', mode: 'mask' },
      ],
      envVars: [{ name: 'TOKEN', mode: 'deny' }],
    },
  });
  expect(limits).toMatchObject([
    { unreadable: ['home/.npmrc', '/srv/x'], removedVariables: ['TOKEN'] },
  ]);
  expect(why).toEqual([]);
});
