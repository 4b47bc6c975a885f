import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readTree } from './read-tree.ts';
import { createSandboxFixture, USERS } from './fixture.ts';

/** `call(number, argument)`: mov eax, NUMBER; mov ebx, ARGUMENT; int 0x80 */
const CALL_OF_32_BITS = `import ctypes, errno, mmap
memory = mmap.mmap(-1, 4096, prot=7)
def call(number, argument):
  memory.seek(0)
  memory.write(b"\\x53\\xb8" + number.to_bytes(4, "little") + b"\\xbb" + argument.to_bytes(4, "little") + b"\\xcd\\x80\\x5b\\xc3")
  address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
  result = ctypes.CFUNCTYPE(ctypes.c_int)(address)()
  return errno.errorcode.get(-result, "worked")`;

/** A kernel without such calls ends the program by a signal. */
function hasCallsOf32Bits(): boolean {
  if (process.arch !== 'x64') return false;
  return spawnSync('python3', ['-c', `${CALL_OF_32_BITS}\ncall(20, 0)`]).status === 0;
}

describe.each(USERS)('a sandbox, user %s', (user) => {
  test('lets a command write in the workspace and the temporary directory only', async () => {
    const { run, workspace, outside, profile } = await createSandboxFixture({}, user);
    const places = [
      workspace,
      profile.temporaryDirectory,
      outside,
      '/etc',
      '/var/tmp',
      '/usr',
      '/',
    ];
    const { text } = await run(
      `for p in ${places.join(' ')}; do (echo x > $p/made-inside) 2>/dev/null && echo "$p"; done; true`,
    );
    expect(text.split('\n')).toEqual([workspace, profile.temporaryDirectory]);
    expect(readFileSync(path.join(workspace, 'made-inside'), 'utf8')).toBe('x\n');
  });

  test('has the temporary directory at the same path inside and outside, as TMPDIR', async () => {
    const { run, profile } = await createSandboxFixture({}, user);
    await run('echo here > "$TMPDIR/note"; mktemp >/dev/null');
    expect(readFileSync(path.join(profile.temporaryDirectory, 'note'), 'utf8')).toBe('here\n');
    expect(readdirSync(profile.temporaryDirectory)).toHaveLength(2);
  });

  test('writes nothing but temporary files in the profile read-only', async () => {
    const { run, workspace } = await createSandboxFixture({ a: 'old' }, user);
    const { text } = await run(
      '(echo new > a) 2>/dev/null || echo kept; echo t > "$TMPDIR/t" && echo temporary',
      { name: 'read-only' },
    );
    expect(text).toBe('kept\ntemporary');
    expect(readFileSync(path.join(workspace, 'a'), 'utf8')).toBe('old');
  });

  test('has no capability and cannot get one', async () => {
    const { run } = await createSandboxFixture({}, user);
    const { text } = await run('grep -E "^(CapPrm|CapEff|CapAmb|NoNewPrivs)" /proc/self/status');
    expect(text.replaceAll(/\s+/g, ' ')).toBe(
      'CapPrm: 0000000000000000 CapEff: 0000000000000000 CapAmb: 0000000000000000 NoNewPrivs: 1',
    );
  });

  test.each([
    ['remounts the root', 'mount -o remount,rw /'],
    ['remounts the root as a bind', 'mount -o remount,rw,bind /'],
    ['binds another root', 'mount --bind / /mnt'],
    ['maps root in a namespace', 'unshare -Ur true'],
    ['remounts in a namespace of users', 'unshare -Um mount -o remount,rw,bind /'],
    ['mounts in a namespace of users', 'unshare -Um mount -t tmpfs none /mnt'],
    ['unmounts in a namespace of users', 'unshare -Um umount -l /proc'],
    ['joins the namespaces of the first process', 'nsenter -t 1 -m true'],
    ['leaves the root', 'chroot /proc/1/root true'],
    ['makes a device', 'mknod disk b 8 0'],
    ['writes a kernel setting', 'echo 1 > /proc/sys/kernel/panic_on_oops'],
    ['writes the name of the machine', 'echo other > /proc/sys/kernel/hostname'],
    ['triggers the kernel', 'echo h > /proc/sysrq-trigger'],
    ['writes a setting of a device', 'echo 1 > /sys/kernel/mm/ksm/run'],
    ['makes a control group', 'mkdir /sys/fs/cgroup/escape'],
  ])('fails when it %s', async (_what, command) => {
    const { run } = await createSandboxFixture({}, user);
    expect(await run(`(${command}) >/dev/null 2>&1 && echo worked || echo failed`)).toMatchObject({
      text: 'failed',
    });
  });

  test('sees only its own processes and devices', async () => {
    const { run } = await createSandboxFixture({}, user);
    const { text } = await run(
      `kill -0 ${process.pid} 2>/dev/null && echo reached; ls /proc | grep -cE '^[0-9]+$'; ls /dev | grep -E '^(sd|vd|nvme|mem|kmsg|fuse|loop)'; true`,
    );
    expect(Number(text)).toBeLessThan(8);
  });

  test('has no keyrings of the kernel, io_uring and userfaultfd', async () => {
    const { run } = await createSandboxFixture({}, user);
    const numbers = process.arch === 'arm64' ? [217, 218, 219, 282] : [248, 249, 250, 323];
    const call = `import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
for number in ${JSON.stringify([...numbers, 425, 426, 427])}:
  libc.syscall(number, 0, 0, 0, 0, 0); print(errno.errorcode[ctypes.get_errno()])`;
    const { text } = await run(`python3 -c '${call}'`);
    expect(text.split('\n')).toEqual(Array(7).fill('ENOSYS'));
  });

  test('opens only sockets that belong to a network namespace', async () => {
    const { run } = await createSandboxFixture({}, user);
    const open = `import errno, socket
def open(create, family):
  try: create(family); return family
  except OSError as error: return errno.errorcode[error.errno]
print([open(lambda f: socket.socket(f, socket.SOCK_DGRAM), family) for family in (1, 2, 10)])
print({open(lambda f: socket.socket(f, socket.SOCK_STREAM), family) for family in range(17, 64)})
print(open(lambda f: socket.socket(f, socket.SOCK_RAW), 16))
print(open(lambda f: [each.close() for each in socket.socketpair(f)], 1))
print(open(lambda f: socket.socketpair(f, socket.SOCK_SEQPACKET), 30))`;
    const { text } = await run(`python3 -c '${open}'`);
    expect(text.split('\n')).toEqual(['[1, 2, 10]', "{'EAFNOSUPPORT'}", '16', '1', 'EAFNOSUPPORT']);
  });

  test.skipIf(!hasCallsOf32Bits())('has none of it by calls of 32 bits, either', async () => {
    const { run } = await createSandboxFixture({}, user);
    const call = `${CALL_OF_32_BITS}
print([call(number, 0) for number in (286, 287, 288, 374, 425, 426, 427)])
print([call(359, family) for family in (40, 31, 38)], [call(102, subcall) for subcall in (1, 8)])
print(call(20, 0), call(102, 2))`;
    const { text } = await run(`python3 -c '${call}'`);
    expect(text.split('\n')).toEqual([
      `[${Array(7).fill("'ENOSYS'").join(', ')}]`,
      "['EAFNOSUPPORT', 'EAFNOSUPPORT', 'EAFNOSUPPORT'] ['ENOSYS', 'ENOSYS']",
      'worked EFAULT',
    ]);
  });

  describe('a protected place', () => {
    const places = [
      '.conf',
      '.deep/er/conf',
      '.git/config',
      '.git/hooks',
      '.missing',
      '.git/none/x',
    ];
    const files = { '.conf/settings.json': '{}', '.deep/er/conf': 'd', '.git/config': 'c', a: 'a' };
    const attacks = [
      'echo evil > .conf/settings.json',
      'echo evil > .conf/new.json',
      'rm -rf .conf',
      'mv .conf moved',
      'mv .deep moved',
      'mv .deep/er moved',
      'mkdir -p x/er && cp -r x .deep2; mv .deep old && mv .deep2 .deep',
      'ln -sfn /tmp .conf',
      'ln -f a .git/config',
      'mv a .git/config',
      'rm -f .git/config && echo evil > .git/config',
      'mv .git g && cp -r g .git && echo evil > .git/config',
      'mkdir .git/hooks',
      'mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit',
      'echo evil > .missing',
      'mkdir -p .missing && echo evil > .missing/x',
      'ln -s /tmp .missing',
      'mkfifo .missing',
      'mv a .missing',
      'rmdir .missing; mkdir .missing; echo evil > .missing/x',
      'mkdir -p .git/none && echo evil > .git/none/x',
      'exec 3<>.conf/settings.json; echo evil >&3',
      'cd .conf && echo evil > settings.json',
      "python3 -c \"import os; os.rename('.conf', 'gone')\"",
      'chmod 777 .conf .conf/settings.json; echo evil >> .conf/settings.json',
      'truncate -s 0 .conf/settings.json',
      'cp /etc/hostname .missing',
      'tar cf t.tar a && tar xf t.tar --transform s/a/.missing/',
    ];
    test.each(attacks)('withstands %s', async (command) => {
      const { run, workspace } = await createSandboxFixture(files, user);
      const before = readTree(workspace, [...places, '.deep', '.git']);
      await run(`${command}; true`, {
        protected: places.map((name) => ({ path: path.join(workspace, name) })),
      });
      expect(readTree(workspace, [...places, '.deep', '.git'])).toEqual(before);
    });

    test('protects all that is in it, whatever else is protected or writable there', async () => {
      const { workspace, profile, run } = await createSandboxFixture(
        { 'sub/x/y/z': '', 'own/a': '' },
        user,
      );
      const attack =
        'touch sub/new sub/x/new sub/x/y/new own/new new 2>/dev/null; find . -name new';
      const at = (name: string) => ({ path: path.join(workspace, name) });
      const nested = { protected: [at('sub/x/y/z'), at('sub')] };
      expect((await run(`${attack}; rm own/new new`, nested)).text.split('\n').toSorted()).toEqual([
        './new',
        './own/new',
      ]);
      const whole = {
        writable: [...profile.writable, at('own').path],
        protected: [at('sub/x/y/z'), at('own'), { path: workspace }],
      };
      expect((await run(attack, whole)).text).toBe('');
    });

    test('that is a link cannot be replaced, and other files stay writable', async () => {
      const { run, workspace, outside } = await createSandboxFixture(
        { a: 'a', 'src/b': 'b' },
        user,
      );
      symlinkSync(outside, path.join(workspace, '.conf'));
      await run(
        'rm -f .conf; mkdir .conf; mkdir .missing; echo evil > .conf/notes.txt; echo 2 > a; echo 2 > src/c',
        { protected: ['.conf', '.missing'].map((name) => ({ path: path.join(workspace, name) })) },
      );
      expect(readFileSync(path.join(outside, 'notes.txt'), 'utf8')).toBe('beside');
      expect(readdirSync(workspace).toSorted()).toEqual(['.conf', 'a', 'src']);
      expect(readFileSync(path.join(workspace, 'a'), 'utf8')).toBe('2\n');
      expect(existsSync(path.join(workspace, 'src/c'))).toBe(true);
    });
  });

  describe('something hidden', () => {
    const files = {
      '.env': 'SECRET',
      'secrets/key': 'SECRET',
      'secrets/sub/key': 'SECRET',
      a: 'a',
    };
    const commands = [
      'cat .env',
      'cat secrets/key',
      'cat secrets/sub/key',
      'ls secrets',
      'grep -r SECRET .',
      'chmod 644 .env; cat .env',
      'chmod -R 755 secrets; cat secrets/key',
      'mv secrets s; cat s/key',
      'mv .env e; cat e',
      'ln .env e; cat e',
      'ln -s .env e; cat e',
      'tar cf - . | strings',
      'cp -r . "$TMPDIR/copy"; grep -r SECRET "$TMPDIR"',
      'cat /proc/self/root$PWD/.env',
      'cat /proc/1/root$PWD/.env',
      'cat /proc/1/cwd/.env',
      'unshare -Ur cat .env',
      'unshare -Um sh -c "umount .env; cat .env"',
      "node -e \"process.stdout.write(require('fs').readFileSync('.env'))\"",
      'git hash-object -w .env; git add -A',
    ];
    test.each(commands)('is not shown by %s', async (command) => {
      const { run, workspace } = await createSandboxFixture(files, user);
      const hidden = ['.env', 'secrets'].map((name) => path.join(workspace, name));
      expect((await run(`(${command}) 2>&1; true`, { hidden })).text).not.toContain('SECRET');
    });

    test('fails with EACCES and looks neither empty nor absent', async () => {
      const { run, workspace } = await createSandboxFixture(files, user);
      const hidden = ['.env', 'secrets'].map((name) => path.join(workspace, name));
      const { text } = await run(
        'for f in .env secrets/key; do cat $f; done; ls secrets; chmod 700 secrets; stat -c %a .env secrets; true',
        { hidden },
      );
      expect(text.match(/Permission denied/g)).toHaveLength(3);
      expect(text).toContain('Read-only file system');
      expect(text).not.toContain('No such file');
    });

    test('fails with EACCES beside what is writable in it', async () => {
      const { run, workspace, profile } = await createSandboxFixture(files, user);
      const open = path.join(workspace, 'secrets/sub');
      const { text } = await run(
        'cat secrets/key; ls secrets; rm secrets/key; cat secrets/sub/key; echo; echo x > secrets/sub/new; true',
        { hidden: [path.join(workspace, 'secrets')], writable: [...profile.writable, open] },
      );
      expect(text.split('\n').toSorted()).toEqual([
        'SECRET',
        'cat: secrets/key: Permission denied',
        "ls: cannot open directory 'secrets': Permission denied",
        "rm: cannot remove 'secrets/key': Permission denied",
      ]);
      expect(readFileSync(path.join(open, 'new'), 'utf8')).toBe('x\n');
    });

    test('is not committed as deleted or empty', async () => {
      const { run, workspace } = await createSandboxFixture(files, user);
      const git = 'git -c user.name=a -c user.email=a@b -c safe.directory=*';
      await run(`git init -q -b main . && ${git} add -A && ${git} commit -qm first`);
      const hidden = ['.env', 'secrets'].map((name) => path.join(workspace, name));
      await run(`${git} add -A; ${git} commit -aqm second; ${git} stash; true`, { hidden });
      const { text } = await run(`${git} show HEAD:.env HEAD:secrets/key`);
      expect(text).toBe('SECRETSECRET');
    });
  });

  test('shows another directory in place of a path, which stays as it is', async () => {
    const { run, workspace, outside } = await createSandboxFixture({ a: 'real' }, user);
    const overlay = { path: workspace, directory: outside };
    const { text } = await run('ls; echo changed > notes.txt', { overlay, name: 'read-only' });
    expect(text).toBe('notes.txt');
    expect(readdirSync(workspace)).toEqual(['a']);
    expect(readFileSync(path.join(outside, 'notes.txt'), 'utf8')).toBe('changed\n');
  });
});

test('is not prepared when a placeholder cannot be made', async () => {
  const { launcher, profile, workspace } = await createSandboxFixture({ file: '' });
  const request = { file: '/bin/true', args: [], cwd: workspace, env: {} };
  const place = path.join(workspace, 'x'.repeat(300));
  expect(launcher.prepare(request, { ...profile, protected: [{ path: place }] })).toContain(
    'The sandbox could not be prepared, so nothing was started',
  );
});

test('removes variables and adds others', async () => {
  const { run } = await createSandboxFixture();
  const { text } = await run('echo "${GONE-none} $ADDED"', {
    removedVariables: ['GONE'],
    addedVariables: { ADDED: 'yes' },
  });
  expect(text).toBe('none yes');
});
