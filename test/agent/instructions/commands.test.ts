import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  loadCommands,
  type SlashCommand,
  expandCommand,
} from '../../../src/agent/instructions/commands.ts';
import { createDirectory } from '../../base/directory.ts';

const FRONT = `---
description: Reviews a file
argument-hint: [path]
allowed-tools: Read, Bash(git diff:*)
model: small
---
`;

describe('commands are found', () => {
  test('in the project, the home and plugins, named after their directories', async () => {
    const top = createDirectory({
      'repo/.claude/commands/review.md': `${FRONT}Look at $1.\n`,
      'repo/.claude/commands/front/new.md': '# Makes one\n\nDo it.',
      'repo/.claude/commands/notes.txt': 'no command',
      'home/.claude/commands/review.md': 'mine',
      'home/.claude/commands/tidy.md': 'Tidy up.',
      'plug/commands/ship.md': 'Ship.',
    });
    const at = (name: string): string => path.join(top, name);
    const { commands, notes } = await loadCommands({
      startDirectory: at('repo'),
      roots: [at('repo')],
      home: at('home'),
      plugins: [{ name: 'acme', directory: at('plug') }],
    });
    const bare = { argumentHint: null, allowedTools: [], model: null };
    expect(commands).toEqual([
      {
        ...bare,
        name: 'front:new',
        description: 'Makes one',
        source: 'projectSettings',
        file: at('repo/.claude/commands/front/new.md'),
        text: '# Makes one\n\nDo it.',
      },
      {
        name: 'review',
        description: 'Reviews a file',
        argumentHint: '[path]',
        allowedTools: ['Read', 'Bash(git diff:*)'],
        model: 'small',
        source: 'projectSettings',
        file: at('repo/.claude/commands/review.md'),
        text: 'Look at $1.',
      },
      {
        ...bare,
        name: 'tidy',
        description: 'Tidy up.',
        source: 'userSettings',
        file: at('home/.claude/commands/tidy.md'),
        text: 'Tidy up.',
      },
      {
        ...bare,
        name: 'acme:ship',
        description: 'Ship.',
        source: 'plugin',
        file: at('plug/commands/ship.md'),
        text: 'Ship.',
      },
    ]);
    expect(notes).toEqual([
      `${at('home/.claude/commands/review.md')} is ignored: /review is already defined in ${at('repo/.claude/commands/review.md')}`,
    ]);
  });

  test('bad files are noted and do not affect the others', async () => {
    const top = createDirectory({
      '.claude/commands/a.md': '---\ndescription: x: y: z\n---\nA.',
      '.claude/commands/b.md': 'bin\0ary',
    });
    execFileSync('mkfifo', [path.join(top, '.claude/commands/c.md')]);
    const { commands, notes } = await loadCommands({ startDirectory: top, roots: [], home: null });
    expect(commands.map(({ name, description }) => [name, description])).toEqual([
      ['a', 'x: y: z'],
    ]);
    const file = (name: string): string => path.join(top, '.claude/commands', name);
    expect(notes[0]).toMatch(`${file('a.md')}: invalid YAML front matter`);
    expect(notes.slice(1)).toEqual([
      `${file('b.md')} is ignored: it is not text`,
      `${file('c.md')} is ignored: it is a device, a pipe or a socket, not a regular file`,
    ]);
  });
});

function command(name: string, text: string): SlashCommand {
  return {
    name,
    text,
    description: '',
    argumentHint: null,
    allowedTools: [],
    model: null,
    source: 'projectSettings',
    file: `/x/${name}.md`,
  };
}

const COMMANDS = [
  command('fix', 'Fix issue $1 with $2. All: $ARGUMENTS'),
  command('plain', 'Do it.'),
  command('front:new', 'New.'),
  command('shell', 'Status: !`git status`\nGo.'),
  command('a:twice', 'a'),
  command('b:twice', 'b'),
];

describe('a prompt', () => {
  test('that is a command is expanded with its arguments', () => {
    expect(expandCommand('/fix 12 "great care" $1\nnow', COMMANDS)).toEqual({
      kind: 'expanded',
      command: 'fix',
      args: '12 "great care" $1\nnow',
      source: 'projectSettings',
      text: 'Fix issue 12 with great care. All: 12 "great care" $1\nnow',
      model: null,
      allowedTools: [],
      notes: [],
    });
    expect(expandCommand('/fix', COMMANDS)).toMatchObject({
      args: '',
      text: 'Fix issue  with . All: ',
    });
  });

  test('appends the arguments to the text of a command without a placeholder', () => {
    expect(expandCommand(' /plain  a b ', COMMANDS)).toMatchObject({
      text: 'Do it.\n\nARGUMENTS: a b',
    });
    expect(expandCommand('/plain', COMMANDS)).toMatchObject({ text: 'Do it.' });
  });

  test('may leave out the directory when only one command is meant', () => {
    expect(expandCommand('/new', COMMANDS)).toMatchObject({ command: 'front:new' });
    expect(expandCommand('/front:new', COMMANDS)).toMatchObject({ command: 'front:new' });
    expect(expandCommand('/twice', COMMANDS)).toEqual({
      kind: 'unknown',
      command: 'twice',
      closest: 'a:twice',
    });
  });

  test('runs no program by itself', () => {
    expect(expandCommand('/shell', COMMANDS)).toMatchObject({
      text: 'Status: !`git status`\nGo.',
      notes: [
        '/shell contains inline shell `git status`, which is not run; the model can run it with a tool, subject to hooks and permissions',
      ],
    });
  });

  test('that names no command suggests a similar one', () => {
    expect(expandCommand('/plaim now', COMMANDS)).toEqual({
      kind: 'unknown',
      command: 'plaim',
      closest: 'plain',
    });
    expect(expandCommand('/whatever', COMMANDS)).toEqual({
      kind: 'unknown',
      command: 'whatever',
      closest: null,
    });
  });

  test.each(['hello', '/etc/passwd is odd', '/tmp is full', '/', '/ x', '// a comment', ''])(
    'that is a path or plain text goes to the model as it is: %j',
    (prompt) => {
      expect(expandCommand(prompt, COMMANDS)).toBe(null);
    },
  );
});
