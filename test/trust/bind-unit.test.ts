import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { bindUnit } from '../../src/trust/bind-unit.ts';
import { computeDigest, computeSha256 } from '../../src/trust/file-map.ts';
import { hasMkfifo } from './programs.ts';
import { createDirectory, GUARD, HOOKS, unitOf, write } from './workspace.ts';

const SCRIPT = '#!/bin/sh\nexit 0\n';

describe('bindUnit', () => {
  it('binds the entry and every file of its directory, at any depth', () => {
    const root = createDirectory({
      [GUARD]: SCRIPT,
      [`${HOOKS}/lib/deep/rules.json`]: '{}',
      'elsewhere.sh': 'not bound',
    });
    const { fingerprint, ...binding } = bindUnit(unitOf(root));
    const files = {
      [GUARD]: computeSha256(SCRIPT),
      [`${HOOKS}/lib/deep/rules.json`]: computeSha256('{}'),
    };
    expect(fingerprint.length).toBeGreaterThan(0);
    expect(binding).toEqual({
      id: 'cline:workspace:PreToolUse',
      root,
      entry: path.join(root, GUARD),
      name: GUARD,
      text: null,
      digest: computeDigest(files),
      files,
      followed: new Set(),
      unbound: [],
    });
  });

  it('gives the same digest wherever the checkout lies', () => {
    const files = { [GUARD]: SCRIPT, [`${HOOKS}/helper`]: 'x' };
    const [here, there] = [createDirectory(files), createDirectory(files)];
    expect(bindUnit(unitOf(here)).digest).toBe(bindUnit(unitOf(there)).digest);
  });

  it('resolves links in the path of the root', () => {
    const root = createDirectory({ [GUARD]: SCRIPT });
    const link = path.join(createDirectory(), 'link');
    symlinkSync(root, link);
    const bound = bindUnit(unitOf(link));
    expect([bound.root, bound.digest]).toEqual([root, bindUnit(unitOf(root)).digest]);
  });

  it('binds a linked hook with its target and the directory that the target lies in', () => {
    const root = createDirectory({ 'scripts/guard.sh': SCRIPT, 'scripts/lib.sh': 'helper' });
    mkdirSync(path.join(root, HOOKS), { recursive: true });
    symlinkSync('../../scripts/guard.sh', path.join(root, GUARD));
    const { entry, name, files } = bindUnit(unitOf(root));
    expect({ entry, name, files }).toEqual({
      entry: path.join(root, 'scripts/guard.sh'),
      name: GUARD,
      files: {
        [GUARD]: 'link:scripts/guard.sh',
        'scripts/guard.sh': computeSha256(SCRIPT),
        'scripts/lib.sh': computeSha256('helper'),
      },
    });
  });

  it('binds only the bytes of a hook that a link leads out of the workspace to, with a note', () => {
    const outside = createDirectory({ 'guard.sh': SCRIPT, 'lib.sh': 'helper' });
    const root = createDirectory();
    mkdirSync(path.join(root, HOOKS), { recursive: true });
    symlinkSync(path.join(outside, 'guard.sh'), path.join(root, GUARD));
    const { files, unbound } = bindUnit(unitOf(root));
    expect({ files, unbound }).toEqual({
      files: {
        [GUARD]: `link:${outside}/guard.sh`,
        [`${outside}/guard.sh`]: computeSha256(SCRIPT),
      },
      unbound: [`"${outside}" is outside the workspace: its files are not tracked`],
    });
  });

  it('does not bind the whole workspace because a link leads to its root', () => {
    const root = createDirectory({ 'guard.sh': SCRIPT, 'notes.md': 'x' });
    mkdirSync(path.join(root, HOOKS), { recursive: true });
    symlinkSync('../../guard.sh', path.join(root, GUARD));
    const { files, unbound } = bindUnit(unitOf(root));
    expect({ files, unbound }).toEqual({
      files: { [GUARD]: 'link:guard.sh', 'guard.sh': computeSha256(SCRIPT) },
      unbound: ['the workspace root is not tracked as a whole, only the files named in it'],
    });
  });

  it('binds a hook directory that is itself a link inside the workspace', () => {
    const root = createDirectory({ 'shared/hooks/PreToolUse': SCRIPT });
    symlinkSync('shared', path.join(root, '.clinerules'));
    expect(bindUnit(unitOf(root)).files).toEqual({
      [HOOKS]: 'link:shared/hooks',
      [GUARD]: 'link:shared/hooks/PreToolUse',
      'shared/hooks/PreToolUse': computeSha256(SCRIPT),
    });
  });

  it('follows links to files and to directories of the workspace, and marks where they lead', () => {
    const outside = createDirectory({ 'data/secret': 'x' });
    const root = createDirectory({ [GUARD]: SCRIPT, 'lib/a.sh': 'a', 'one/b.sh': 'b' });
    symlinkSync('../../lib', path.join(root, HOOKS, 'lib'));
    symlinkSync('../../one/b.sh', path.join(root, HOOKS, 'b'));
    symlinkSync(outside, path.join(root, HOOKS, 'out'));
    symlinkSync('nowhere', path.join(root, HOOKS, 'dangling'));
    symlinkSync('..', path.join(root, 'lib', 'loop'));
    const { files, unbound } = bindUnit(unitOf(root));
    expect({ files, unbound: [...unbound].toSorted() }).toEqual({
      files: {
        [GUARD]: computeSha256(SCRIPT),
        [`${HOOKS}/lib`]: 'link:lib',
        'lib/a.sh': computeSha256('a'),
        'lib/loop': 'link:',
        [`${HOOKS}/b`]: 'link:one/b.sh',
        'one/b.sh': computeSha256('b'),
        [`${HOOKS}/out`]: `link:${outside}`,
        [`${HOOKS}/dangling`]: 'absent:nowhere',
      },
      unbound: [
        `"${outside}" is outside the workspace: its files are not tracked`,
        'the workspace root is not tracked as a whole, only the files named in it',
      ],
    });
  });

  it.skipIf(!hasMkfifo)('never opens a FIFO, with a note that it is not bound', () => {
    const root = createDirectory({ [GUARD]: SCRIPT });
    execFileSync('mkfifo', [path.join(root, HOOKS, 'pipe')]);
    symlinkSync('pipe', path.join(root, HOOKS, 'link-to-pipe'));
    const { files, unbound } = bindUnit(unitOf(root));
    expect({ files, unbound }).toEqual({
      files: { [GUARD]: computeSha256(SCRIPT), [`${HOOKS}/link-to-pipe`]: `link:${HOOKS}/pipe` },
      unbound: [`"${HOOKS}/pipe" is neither a file nor a directory: it is not tracked`],
    });
  });

  it.skipIf(!hasMkfifo)('refuses a FIFO as the hook itself', () => {
    const root = createDirectory({ [`${HOOKS}/x`]: '' });
    execFileSync('mkfifo', [path.join(root, GUARD)]);
    expect(() => bindUnit(unitOf(root))).toThrow(
      `"${root}/${GUARD}" must be readable to be trusted: it is not a regular file`,
    );
  });

  it('leaves the data of a nested repository alone, but binds its files, with a note', () => {
    const root = createDirectory({
      [GUARD]: SCRIPT,
      [`${HOOKS}/vendor/.git/HEAD`]: 'ref',
      [`${HOOKS}/vendor/tool.sh`]: 'tool',
    });
    const { files, unbound } = bindUnit(unitOf(root));
    expect({ files, unbound }).toEqual({
      files: { [GUARD]: computeSha256(SCRIPT), [`${HOOKS}/vendor/tool.sh`]: computeSha256('tool') },
      unbound: [`"${HOOKS}/vendor/.git" belongs to a nested repository: it is not tracked`],
    });
  });

  it('binds further named files, missing ones and directories included', () => {
    const root = createDirectory({ [GUARD]: SCRIPT, 'tools/check.py': 'py' });
    const namedFiles = ['tools/check.py', 'tools/later.py', 'gone/later.py', 'tools'];
    const unit = unitOf(root, { files: namedFiles.map((name) => path.join(root, name)) });
    const { files, unbound } = bindUnit(unit);
    expect({ files, unbound }).toEqual({
      files: {
        [GUARD]: computeSha256(SCRIPT),
        'tools/check.py': computeSha256('py'),
        'tools/later.py': 'absent',
        'gone/later.py': 'absent',
        tools: 'directory',
      },
      unbound: ['"tools" is a directory: its files are not tracked'],
    });
  });

  it('binds the text of a config entry instead of the file that it stands in', () => {
    const root = createDirectory({ '.claude/settings.json': '{"a":1}' });
    const unit = unitOf(root, {
      entry: path.join(root, '.claude/settings.json'),
      text: 'npm test',
      directories: [],
    });
    const before = bindUnit(unit);
    write(root, '.claude/settings.json', '{"a":2}');
    expect(before.files).toEqual({ '//entry-text': computeSha256('npm test') });
    expect(bindUnit(unit).digest).toBe(before.digest);
    expect(bindUnit({ ...unit, text: 'npm  test' }).digest).not.toBe(before.digest);
  });

  it('binds names with newlines, quotes and backslashes, and one like an object’s prototype', () => {
    const names = ['a\nb', `it's "x"`, 'c\\d', '__proto__', ' ', 'ünï'];
    const root = createDirectory({ [GUARD]: SCRIPT });
    for (const name of names) write(root, `${HOOKS}/sub/${name}`, name);
    write(root, '__proto__', 'proto');
    const unit = unitOf(root, { files: [path.join(root, '__proto__')] });
    expect(new Map(Object.entries(bindUnit(unit).files))).toEqual(
      new Map([
        [GUARD, computeSha256(SCRIPT)],
        ['__proto__', computeSha256('proto')],
        ...names.map((name) => [`${HOOKS}/sub/${name}`, computeSha256(name)] as const),
      ]),
    );
  });

  it('binds the executable bit and no other mode bits', () => {
    const root = createDirectory({ [GUARD]: SCRIPT });
    const before = bindUnit(unitOf(root)).digest;
    chmodSync(path.join(root, GUARD), 0o666);
    expect(bindUnit(unitOf(root)).digest).toBe(before);
    chmodSync(path.join(root, GUARD), 0o755);
    expect(bindUnit(unitOf(root)).files).toEqual({ [GUARD]: `${computeSha256(SCRIPT)}+x` });
  });

  it('binds 2,000 files and refuses one more', () => {
    const root = createDirectory({ [GUARD]: SCRIPT });
    for (let i = 1; i < 2_000; i += 1) writeFileSync(path.join(root, HOOKS, `f${i}`), '');
    expect(Object.keys(bindUnit(unitOf(root)).files)).toHaveLength(2_000);
    write(root, `${HOOKS}/one-more`, '');
    expect(() => bindUnit(unitOf(root))).toThrow(
      expect.objectContaining({
        code: 'TRUST_UNIT_TOO_LARGE',
        message: `cline:workspace:PreToolUse would bind more than 2000 files in "${root}/${HOOKS}" and what is linked from there`,
      }),
    );
  });

  it('refuses more than 64 MiB without reading them', () => {
    const root = createDirectory({ [GUARD]: SCRIPT, [`${HOOKS}/big`]: '' });
    truncateSync(path.join(root, HOOKS, 'big'), 64 * 1024 * 1024);
    expect(() => bindUnit(unitOf(root))).toThrow(
      expect.objectContaining({ code: 'TRUST_UNIT_TOO_LARGE' }),
    );
  });

  it('refuses a hook that is gone', () => {
    const root = createDirectory({ [GUARD]: SCRIPT });
    rmSync(path.join(root, GUARD));
    expect(() => bindUnit(unitOf(root))).toThrow(
      expect.objectContaining({ code: 'CONFIG_UNREADABLE' }),
    );
  });

  it('refuses a file name that is not UTF-8 rather than leaving the file unbound', () => {
    const root = createDirectory({ [GUARD]: SCRIPT });
    const name = Buffer.concat([Buffer.from(`${root}/${HOOKS}/`), Buffer.from([0xff, 0xfe])]);
    writeFileSync(name, 'x');
    expect(() => bindUnit(unitOf(root))).toThrow(
      expect.objectContaining({ code: 'CONFIG_UNREADABLE' }),
    );
    rmSync(name);
  });
});
