import { expect, test } from 'vitest';
import { formatSeatbeltProfile, wrapInSeatbelt } from '../../../src/process/sandbox/seatbelt.ts';
import type { SandboxProfile } from '../../../src/process/sandbox/profile.ts';

const PROFILE: SandboxProfile = {
  name: 'workspace',
  writable: ['/work/a "b"'],
  protected: [{ path: '/work/a "b"/.git/config' }],
  hidden: ['/home/me/.ssh'],
  sockets: [],
  emptied: ['/run'],
  readable: [],
  network: 'on',
  temporaryDirectory: '/tmp/session',
  overlay: null,
  removedVariables: [],
  addedVariables: {},
};

test('the text allows the writable places, and protects and hides after that', () => {
  expect(formatSeatbeltProfile(PROFILE).split('\n')).toEqual([
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    String.raw`(allow file-write* (subpath "/work/a \"b\"") (subpath "/tmp/session") (subpath "/dev/null") (subpath "/dev/zero") (subpath "/dev/tty") (subpath "/dev/stdout") (subpath "/dev/stderr") (subpath "/dev/fd"))`,
    String.raw`(deny file-write* (subpath "/work/a \"b\"/.git/config"))`,
    String.raw`(deny file-write-unlink (literal "/work/a \"b\"/.git"))`,
    '(deny file-read* file-write* process-exec* (subpath "/home/me/.ssh"))',
    '(deny network-outbound (subpath "/run"))',
    '(deny mach-lookup (global-name "com.apple.coreservices.launchservicesd"))',
    '(deny appleevent-send)',
  ]);
});

test('read-only leaves only the temporary directory writable', () => {
  const text = formatSeatbeltProfile({ ...PROFILE, name: 'read-only', network: 'off' });
  expect(text).not.toContain('(allow file-write* (subpath "/work');
  expect(text).toContain('(subpath "/tmp/session")');
  expect(text).toContain('(deny network*)');
});

test('a list of hosts is no network', () => {
  const text = formatSeatbeltProfile({ ...PROFILE, network: { socket: '/tmp/proxy' } });
  expect(text).toContain('(deny network*)');
});

test('the program follows the text', () => {
  const request = { file: '/bin/sh', args: ['-c', ':'], cwd: '/work', env: {} };
  expect(wrapInSeatbelt(request, '/usr/bin/sandbox-exec', PROFILE)).toEqual({
    ...request,
    file: '/usr/bin/sandbox-exec',
    args: ['-p', formatSeatbeltProfile(PROFILE), '/bin/sh', '-c', ':'],
  });
});
