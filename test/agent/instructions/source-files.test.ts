import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadAgents } from '../../../src/agent/instructions/agents.ts';
import { loadCommands } from '../../../src/agent/instructions/commands.ts';
import type { InstructionPaths } from '../../../src/agent/instructions/source-files.ts';
import { loadSkills } from '../../../src/agent/instructions/skills.ts';
import { createDirectory, write } from '../../base/directory.ts';

interface Ground extends InstructionPaths {
  at(name: string): string;
  link(name: string, target: string): void;
}

/** A repository with something secret beside it. */
function createGround(): Ground {
  const top = createDirectory({
    'home/.ssh/id_rsa': 'SECRET',
    'home/notes/diary.md': 'SECRET',
    'home/notes/SKILL.md': 'SECRET',
    'repo/shared/tidy.md': 'Tidy.',
    'repo/shared/SKILL.md': 'Shared.',
  });
  const at = (name: string): string => path.join(top, name);
  return {
    at,
    startDirectory: at('repo'),
    roots: [at('repo')],
    home: at('home'),
    link(name, target) {
      mkdirSync(path.dirname(at(name)), { recursive: true });
      symlinkSync(at(target), at(name));
    },
  };
}

const refused = ({ at }: Ground, file: string, real: string): string =>
  `${at(file)} links to ${at(real)}, outside of the workspace: ignored until you trust it with \`hookline trust\``;

describe('links of a project that lead out of it are not followed', () => {
  test('by skills', async () => {
    const repository = createGround();
    repository.link('repo/.claude/skills/key/SKILL.md', 'home/.ssh/id_rsa');
    repository.link('repo/.claude/skills/notes', 'home/notes');
    repository.link('repo/.claude/skills/shared', 'repo/shared');
    repository.link('repo/.cline/skills', 'home');
    const { skills, notes } = await loadSkills(repository);
    expect(skills.map(({ name, text }) => [name, text])).toEqual([['shared', 'Shared.']]);
    expect(notes.toSorted()).toEqual([
      refused(repository, 'repo/.claude/skills/key/SKILL.md', 'home/.ssh/id_rsa'),
      refused(repository, 'repo/.claude/skills/notes/SKILL.md', 'home/notes/SKILL.md'),
      refused(repository, 'repo/.cline/skills', 'home'),
    ]);
  });

  test('by sub-agents', async () => {
    const repository = createGround();
    repository.link('repo/.claude/agents/key.md', 'home/.ssh/id_rsa');
    repository.link('repo/.claude/agents/tidy.md', 'repo/shared/tidy.md');
    const { agents, notes } = await loadAgents(repository);
    expect(agents.filter(({ file }) => file !== null).map(({ name }) => name)).toEqual(['tidy']);
    expect(notes).toEqual([refused(repository, 'repo/.claude/agents/key.md', 'home/.ssh/id_rsa')]);
  });

  test('by commands, neither files nor directories', async () => {
    const repository = createGround();
    repository.link('repo/.claude/commands/key.md', 'home/.ssh/id_rsa');
    repository.link('repo/.claude/commands/all', 'home');
    repository.link('repo/.claude/commands/shared', 'repo/shared');
    const { commands, notes } = await loadCommands(repository);
    expect(commands.map(({ name }) => name)).toEqual(['shared:SKILL', 'shared:tidy']);
    expect(notes).toEqual([
      refused(repository, 'repo/.claude/commands/all', 'home'),
      refused(repository, 'repo/.claude/commands/key.md', 'home/.ssh/id_rsa'),
    ]);
  });

  test('when the whole directory is a link that leads out', async () => {
    const repository = createGround();
    repository.link('repo/.claude', 'home/notes');
    write(repository.at('home/notes/commands/a.md'), 'SECRET');
    write(repository.at('home/notes/agents/a.md'), 'SECRET');
    expect(await loadCommands(repository)).toEqual({
      commands: [],
      notes: [refused(repository, 'repo/.claude/commands', 'home/notes/commands')],
    });
    expect((await loadAgents(repository)).notes).toEqual([
      refused(repository, 'repo/.claude/agents', 'home/notes/agents'),
    ]);
  });
});

describe('links of the user lead anywhere', () => {
  test('out of their own directory', async () => {
    const repository = createGround();
    write(repository.at('dotfiles/commands/mine.md'), 'Mine.');
    repository.link('home/.claude/commands', 'dotfiles/commands');
    const { commands, notes } = await loadCommands(repository);
    expect(commands.map(({ name }) => name)).toEqual(['mine']);
    expect(notes).toEqual([]);
  });

  test('also when the user works in the home directory, which then is the project’s, too', async () => {
    const repository = createGround();
    write(repository.at('dotfiles/commands/mine.md'), 'Mine.');
    repository.link('home/.claude/commands', 'dotfiles/commands');
    const home = repository.at('home');
    const { commands, notes } = await loadCommands({
      ...repository,
      startDirectory: home,
      roots: [],
    });
    expect(commands.map(({ name }) => name)).toEqual(['mine']);
    expect(notes).toEqual([]);
  });
});

test('a directory is searched only to a limited depth, however its links lead in circles', async () => {
  const repository = createGround();
  for (const name of Array.from({ length: 30 }, (_, at) => `repo/.claude/commands/x${at}`)) {
    repository.link(name, 'repo/.claude/commands');
  }
  write(repository.at('home/.claude/commands/mine.md'), 'Mine.');
  const { commands, notes } = await loadCommands(repository);
  expect(commands.map(({ name }) => name)).toEqual(['mine']);
  expect(notes).toEqual([
    `${repository.at('repo/.claude/commands')} contains more than 1,000 files and directories; the rest is ignored`,
  ]);
});
