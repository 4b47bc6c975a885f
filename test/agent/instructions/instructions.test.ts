import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type Instruction,
  type Instructions,
  loadInstructions,
} from '../../../src/agent/instructions/instructions.ts';
import type { TextExit } from '../../../src/agent/instructions/source-files.ts';
import { createDirectory, write } from '../../base/directory.ts';

interface Ground {
  readonly top: string;
  readonly root: string;
  readonly home: string;
}

function createGround(files: Readonly<Record<string, string>>): Ground {
  const top = createDirectory(files);
  for (const name of ['repo', 'home']) mkdirSync(path.join(top, name), { recursive: true });
  return { top, root: path.join(top, 'repo'), home: path.join(top, 'home') };
}

function load({ root, home }: Ground, start = '.') {
  const startDirectory = path.join(root, start);
  mkdirSync(startDirectory, { recursive: true });
  return loadInstructions({ startDirectory, roots: [root], home, reason: 'session_start' });
}

/** Files relative to the top, so that whole lists can be compared. */
function withRelativePaths({ top }: Ground, instructions: readonly Instruction[]): unknown[] {
  const relative = (file: string): string => path.relative(top, file);
  return instructions.map(({ file, parentFile, triggerFile, ...rest }) => ({
    file: relative(file),
    ...rest,
    ...(parentFile === undefined ? {} : { parentFile: relative(parentFile) }),
    ...(triggerFile === undefined ? {} : { triggerFile: relative(triggerFile) }),
  }));
}

function names({ top }: Ground, { instructions }: Pick<Instructions, 'instructions'>) {
  return instructions.map(({ file }) => path.relative(top, file));
}

const START = { loadReason: 'session_start' };

describe('where instructions are found', () => {
  test('in the home, then from the root down to the start directory, the general before the special', async () => {
    const repository = createGround({
      'home/.claude/CLAUDE.md': 'mine',
      'home/.claude/rules/a.md': 'my rule',
      'home/Documents/Cline/Rules/b.md': 'my cline rule',
      'home/Documents/Cline/Rules/c.json': '{}',
      'repo/CLAUDE.md': 'root',
      'repo/.claude/CLAUDE.md': 'root, hidden',
      'repo/AGENTS.md': 'agents',
      'repo/CLAUDE.local.md': 'local',
      'repo/.claude/rules/style.md': 'style',
      'repo/.clinerules/02.txt': 'two',
      'repo/.clinerules/01.md': 'one',
      'repo/.clinerules/hooks/PreToolUse': '#!/bin/sh',
      'repo/.clinerules/hooks/readme.md': 'about hooks',
      'repo/app/AGENTS.md': 'app',
      'repo/app/src/.clinerules': 'one file',
      'repo/other/CLAUDE.md': 'elsewhere',
    });
    const { instructions, notes } = await load(repository, 'app/src');
    const own = { memoryType: 'User', ...START };
    const project = { memoryType: 'Project', ...START };
    expect(withRelativePaths(repository, instructions)).toEqual([
      { file: 'home/.claude/CLAUDE.md', text: 'mine', ...own },
      { file: 'home/.claude/rules/a.md', text: 'my rule', ...own },
      { file: 'home/Documents/Cline/Rules/b.md', text: 'my cline rule', ...own },
      { file: 'repo/CLAUDE.md', text: 'root', ...project },
      { file: 'repo/.claude/CLAUDE.md', text: 'root, hidden', ...project },
      { file: 'repo/AGENTS.md', text: 'agents', ...project },
      { file: 'repo/.claude/rules/style.md', text: 'style', ...project },
      { file: 'repo/.clinerules/01.md', text: 'one', ...project },
      { file: 'repo/.clinerules/02.txt', text: 'two', ...project },
      { file: 'repo/CLAUDE.local.md', text: 'local', memoryType: 'Local', ...START },
      { file: 'repo/app/AGENTS.md', text: 'app', ...project },
      { file: 'repo/app/src/.clinerules', text: 'one file', ...project },
    ]);
    expect(notes).toEqual([]);
  });

  test('those of the administrator come first, and further roots count', async () => {
    const top = createDirectory({
      'etc/CLAUDE.md': 'rule',
      'one/CLAUDE.md': 'one',
      'two/CLAUDE.md': 'two',
    });
    const [one, two] = ['one', 'two'].map((name) => path.join(top, name));
    const { instructions } = await loadInstructions({
      startDirectory: one ?? '',
      roots: [one ?? '', two ?? ''],
      home: null,
      managedDirectory: path.join(top, 'etc'),
      reason: 'compact',
    });
    expect(
      instructions.map(({ text, memoryType, loadReason }) => [text, memoryType, loadReason]),
    ).toEqual([
      ['rule', 'Managed', 'compact'],
      ['one', 'Project', 'compact'],
      ['two', 'Project', 'compact'],
    ]);
  });

  test('a root may be written with a slash at its end', async () => {
    const repository = createGround({ 'repo/CLAUDE.md': 'root', 'repo/app/CLAUDE.md': 'app' });
    const { instructions } = await loadInstructions({
      startDirectory: `${repository.root}/app/`,
      roots: [`${repository.root}/`],
      home: null,
      reason: 'session_start',
    });
    expect(instructions.map(({ text }) => text)).toEqual(['root', 'app']);
  });

  test('one file under two names is read once', async () => {
    const repository = createGround({ 'repo/AGENTS.md': 'both' });
    symlinkSync('AGENTS.md', path.join(repository.root, 'CLAUDE.md'));
    const loaded = await load(repository);
    expect(names(repository, loaded)).toEqual(['repo/CLAUDE.md']);
    expect(loaded.notes).toEqual([]);
  });

  test('rules of Cline may say which files they are for', async () => {
    const repository = createGround({
      'repo/.clinerules/ts.md': '---\npaths:\n  - "src/**/*.ts"\n  - "*.tsx"\n---\nUse types.\n',
      'repo/.claude/rules/all.md': '---\ndescription: no paths\n---\nBe kind.\n',
    });
    const { instructions } = await load(repository);
    const project = { memoryType: 'Project', ...START };
    expect(withRelativePaths(repository, instructions)).toEqual([
      { file: 'repo/.claude/rules/all.md', text: 'Be kind.\n', ...project },
      {
        file: 'repo/.clinerules/ts.md',
        text: 'Use types.\n',
        globs: ['src/**/*.ts', '*.tsx'],
        ...project,
      },
    ]);
  });
});

describe('imports', () => {
  test('bring in files of the workspace, each once, also in a circle', async () => {
    const repository = createGround({
      'repo/CLAUDE.md': 'Read @docs/a.md, thank @alice.',
      'repo/docs/a.md': 'A. @b.md @../CLAUDE.md',
      'repo/docs/b.md': 'B. @a.md',
    });
    const { instructions, notes } = await load(repository);
    const included = { memoryType: 'Project', loadReason: 'include' };
    expect(withRelativePaths(repository, instructions).slice(1)).toEqual([
      {
        file: 'repo/docs/a.md',
        text: 'A. @b.md @../CLAUDE.md',
        parentFile: 'repo/CLAUDE.md',
        ...included,
      },
      { file: 'repo/docs/b.md', text: 'B. @a.md', parentFile: 'repo/docs/a.md', ...included },
    ]);
    expect(notes).toEqual([]);
  });

  test('a repository cannot send the model a file outside of it, by include or by link', async () => {
    const repository = createGround({
      'repo/CLAUDE.md': '@../outside.md @~/.ssh/id_ed25519 @/etc/hostname.md @inside.md',
      'outside.md': 'secret',
      'beside.md': 'secret',
      'home/.ssh/id_ed25519': 'key',
      'home/.ssh/id_rsa': 'key',
    });
    const { top, root } = repository;
    symlinkSync('../home/.ssh/id_rsa', path.join(root, 'inside.md'));
    symlinkSync('../beside.md', path.join(root, 'AGENTS.md'));
    const loaded = await load(repository);
    expect(names(repository, loaded)).toEqual(['repo/CLAUDE.md']);
    const rest = 'outside of the workspace: ignored until you trust it with `hookline trust`';
    const refused = (include: string, real: string): string =>
      `${path.join(root, 'CLAUDE.md')} includes @${include}, which is ${real}, ${rest}`;
    expect(loaded.notes).toEqual([
      refused('../outside.md', path.join(top, 'outside.md')),
      refused('~/.ssh/id_ed25519', path.join(top, 'home/.ssh/id_ed25519')),
      refused('/etc/hostname.md', '/etc/hostname.md'),
      refused('inside.md', path.join(top, 'home/.ssh/id_rsa')),
      `${path.join(root, 'AGENTS.md')} links to ${path.join(top, 'beside.md')}, ${rest}`,
    ]);
  });

  test('bring in a file outside of the workspace where the user trusted exactly that', async () => {
    const repository = createGround({
      'repo/CLAUDE.md': '@~/mine.md @~/other.md',
      'home/mine.md': 'mine @more.md',
      'home/more.md': 'more',
      'home/other.md': 'other',
    });
    const { root, home } = repository;
    const asked: TextExit[] = [];
    const loaded = await loadInstructions({
      startDirectory: root,
      roots: [root],
      home,
      reason: 'session_start',
      isTrustedExit(exit) {
        asked.push(exit);
        return exit.target === path.join(home, 'mine.md');
      },
    });
    expect(names(repository, loaded)).toEqual(['repo/CLAUDE.md', 'home/mine.md']);
    const [file, mine] = [path.join(root, 'CLAUDE.md'), path.join(home, 'mine.md')];
    expect(asked).toEqual([
      { file, include: '~/mine.md', target: mine },
      { file: mine, include: 'more.md', target: path.join(home, 'more.md') },
      { file, include: '~/other.md', target: path.join(home, 'other.md') },
    ]);
  });

  test('a text of the workspace that the user includes gains nothing by it', async () => {
    const repository = createGround({
      'home/.claude/CLAUDE.md': '@~/own.md @../../repo/notes.md',
      'home/own.md': 'own',
      'home/key.md': 'key',
      'repo/notes.md': '@~/key.md',
    });
    const loaded = await load(repository);
    expect(names(repository, loaded)).toEqual([
      'home/.claude/CLAUDE.md',
      'home/own.md',
      'repo/notes.md',
    ]);
    expect(loaded.notes).toHaveLength(1);
  });

  test('a user’s directory that was moved into the workspace is the workspace’s', async () => {
    const repository = createGround({ 'repo/moved/CLAUDE.md': '@~/key.md', 'home/key.md': 'key' });
    const { root, home } = repository;
    const loaded = await loadInstructions({
      startDirectory: root,
      roots: [root],
      home,
      claudeDirectory: path.join(root, 'moved'),
      reason: 'session_start',
    });
    expect(names(repository, loaded)).toEqual(['repo/moved/CLAUDE.md']);
  });

  test('a link and `..` lead where the kernel goes', async () => {
    const repository = createGround({
      'repo/CLAUDE.md': '@link/../key.md',
      'repo/key.md': 'decoy',
      'home/deep/x': '',
      'home/key.md': 'key',
    });
    symlinkSync('../home/deep', path.join(repository.root, 'link'));
    const loaded = await load(repository);
    expect(names(repository, loaded)).toEqual(['repo/CLAUDE.md']);
    expect(loaded.notes.join()).toContain(path.join(repository.home, 'key.md'));
  });

  test('a file that the user links to from their own directory counts as the user’s', async () => {
    const repository = createGround({ 'dotfiles/CLAUDE.md': 'dots', 'home/.claude/x': '' });
    symlinkSync('../../dotfiles/CLAUDE.md', path.join(repository.home, '.claude/CLAUDE.md'));
    expect(names(repository, await load(repository))).toEqual(['home/.claude/CLAUDE.md']);
  });

  test('more than five levels deep are left out, and a missing file is noted', async () => {
    const chain = Object.fromEntries(
      Array.from({ length: 8 }, (_, at) => [`repo/${at}.md`, `@${at + 1}.md`]),
    );
    const repository = createGround({ 'repo/CLAUDE.md': '@0.md @gone.md', ...chain });
    const loaded = await load(repository);
    expect(names(repository, loaded)).toEqual(
      ['CLAUDE', 0, 1, 2, 3, 4].map((name) => `repo/${name}.md`),
    );
    const { root } = repository;
    expect(loaded.notes).toEqual([
      `${root}/4.md: includes deeper than 5 levels are ignored`,
      `${root}/CLAUDE.md includes ${root}/gone.md, which does not exist`,
    ]);
  });
});

describe('nested instructions', () => {
  test('come with the first file that is read below them', async () => {
    const repository = createGround({
      'repo/CLAUDE.md': 'root',
      'repo/lib/AGENTS.md': 'lib',
      'repo/lib/deep/CLAUDE.md': 'deep',
      'repo/node_modules/x/CLAUDE.md': 'not ours',
      'outside/CLAUDE.md': 'not here',
    });
    const loaded = await load(repository);
    const file = path.join(repository.root, 'lib/deep/a.ts');
    const found = await loaded.loadForFile(file, 'main');
    const nested = {
      memoryType: 'Project',
      loadReason: 'nested_traversal',
      triggerFile: 'repo/lib/deep/a.ts',
    };
    expect(withRelativePaths(repository, found.instructions)).toEqual([
      { file: 'repo/lib/AGENTS.md', text: 'lib', ...nested },
      { file: 'repo/lib/deep/CLAUDE.md', text: 'deep', ...nested },
    ]);
    const nothing = { instructions: [], notes: [] };
    expect(await loaded.loadForFile(file, 'main')).toEqual(nothing);
    for (const other of ['repo/node_modules/x/a.js', 'outside/a.ts']) {
      expect(await loaded.loadForFile(path.join(repository.top, other), 'main')).toEqual(nothing);
    }
  });
});

describe('rules of Claude with paths', () => {
  const RULES = {
    'repo/.claude/rules/types.md': '---\npaths: "src/**/*.{ts,tsx}"\n---\nUse types. @more.md\n',
    'repo/.claude/rules/more.md': 'More about types.',
    'repo/.claude/rules/docs/prose.md': '---\npaths:\n  - *.md\n  - docs/\n---\nPlain words.\n',
    'home/.claude/rules/mine.md': '---\npaths: [src/**]\n---\nMine.\n',
    'repo/lib/.claude/rules/lib.md': '---\npaths: ["/inner/**"]\n---\nInner.\n',
    'repo/lib/.claude/rules/any.md': 'For all of lib.',
  };

  test('are loaded when a file is read that matches them, each once for an agent', async () => {
    const repository = createGround(RULES);
    const loaded = await load(repository);
    expect(names(repository, loaded)).toEqual(['repo/.claude/rules/more.md']);
    const loadFor = async (file: string, agent = 'main') =>
      withRelativePaths(
        repository,
        (await loaded.loadForFile(path.join(repository.root, file), agent)).instructions,
      );
    const matched = { loadReason: 'path_glob_match', triggerFile: 'repo/src/a/b.ts' };
    const forCode = [
      {
        file: 'home/.claude/rules/mine.md',
        text: 'Mine.\n',
        globs: ['src/**'],
        memoryType: 'User',
        ...matched,
      },
      {
        file: 'repo/.claude/rules/types.md',
        text: 'Use types. @more.md\n',
        globs: ['src/**/*.{ts,tsx}'],
        memoryType: 'Project',
        ...matched,
      },
    ];
    expect(await loadFor('other/a.ts')).toEqual([]);
    expect(await loadFor('src/a/b.ts')).toEqual(forCode);
    expect(await loadFor('src/a/c.tsx')).toEqual([]);
    expect(await loadFor('src/a/b.ts', 'another agent')).toEqual(forCode);
    loaded.forgetFiles('main');
    expect(await loadFor('src/a/b.ts')).toEqual(forCode);
  });

  test('are relative to the directory that has them, and lie at any depth', async () => {
    const repository = createGround(RULES);
    const loaded = await load(repository);
    const filesFor = async (file: string): Promise<readonly string[]> =>
      names(repository, await loaded.loadForFile(path.join(repository.root, file), 'main'));
    expect(await filesFor('docs/a.txt')).toEqual(['repo/.claude/rules/docs/prose.md']);
    expect(await filesFor('inner/a.ts')).toEqual([]);
    expect(await filesFor('lib/inner/a.ts')).toEqual([
      'repo/lib/.claude/rules/any.md',
      'repo/lib/.claude/rules/lib.md',
    ]);
  });
});

describe('a rule whose paths cannot be read', () => {
  test.each([
    ['paths: [src/**', '"[src/**"'],
    ['paths: "src/*.{ts,tsx"', '"src/*.{ts,tsx"'],
    ['paths: 5', '"5"'],
    ['paths: { a: b }', '{"a":"b"}'],
    ['paths: [5, true]', '["5","true"]'],
    ['globs: [src/**', '"[src/**"'],
  ])('counts for every file, and is noted: %s', async (line, found) => {
    const repository = createGround({ 'repo/.claude/rules/a.md': `---\n${line}\n---\nMind.\n` });
    const loaded = await load(repository);
    expect(names(repository, loaded)).toEqual(['repo/.claude/rules/a.md']);
    const [key = ''] = line.split(':');
    expect(loaded.notes).toEqual([
      `${path.join(repository.root, '.claude/rules/a.md')}: expected "${key}" to be a list of patterns, found ${found}; the rule counts for every file`,
    ]);
  });
});

describe('bad files', () => {
  test('are noted and do not affect other files', async () => {
    const repository = createGround({ 'repo/AGENTS.md': 'fine', 'repo/CLAUDE.local.md': 'a\0b' });
    const { root } = repository;
    mkdirSync(path.join(root, '.claude/CLAUDE.md'), { recursive: true });
    execFileSync('mkfifo', [path.join(root, 'CLAUDE.md')]);
    symlinkSync('nowhere', path.join(root, '.clinerules'));
    write(path.join(root, '.claude/rules/empty.md'), ' \n');
    const loaded = await load(repository);
    expect(names(repository, loaded)).toEqual(['repo/AGENTS.md']);
    expect(loaded.notes).toEqual([
      `${root}/CLAUDE.md is ignored: it is a device, a pipe or a socket, not a regular file`,
      `${root}/.claude/CLAUDE.md is ignored: it is a directory`,
      `${root}/.clinerules is a broken link`,
      `${root}/CLAUDE.local.md is ignored: it is not text`,
    ]);
  });

  test('long ones are cut, and all together are bounded', async () => {
    const long = 'x'.repeat(50_000);
    const repository = createGround(
      Object.fromEntries(Array.from({ length: 7 }, (_, at) => [`repo/.clinerules/${at}.md`, long])),
    );
    const { instructions, notes } = await load(repository);
    const { root } = repository;
    expect(instructions.map(({ text }) => text.length)).toEqual(Array(5).fill(40_000));
    expect(notes).toEqual([
      ...[0, 1, 2, 3, 4].map(
        (at) =>
          `${root}/.clinerules/${at}.md is longer than 40,000 characters; the rest is ignored`,
      ),
      ...[5, 6].map(
        (at) =>
          `${root}/.clinerules/${at}.md is ignored: all instructions together exceed 200,000 characters`,
      ),
    ]);
  });

  test('a file that is far too large is not even read', async () => {
    const repository = createGround({ 'repo/CLAUDE.md': 'y'.repeat(5 * 1024 * 1024) });
    const { instructions, notes } = await load(repository);
    expect({ instructions, notes }).toEqual({
      instructions: [],
      notes: [`${repository.root}/CLAUDE.md is ignored: it is larger than 4 MiB`],
    });
  });
});
