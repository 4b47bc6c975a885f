import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { findSkill, loadSkills } from '../../../src/agent/instructions/skills.ts';
import { createDirectory } from '../../base/directory.ts';

const skill = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: About ${name}\n${more}---\nDo ${name}.\n`;

function createDirectories(top: string, ...packages: readonly string[]) {
  return {
    startDirectory: path.join(top, 'repo'),
    roots: [path.join(top, 'repo')],
    home: path.join(top, 'home'),
    skillDirectories: packages.map((name) => path.join(top, name, 'skills')),
  };
}

test('skills of a Cline plugin’s package are found under their own names, after all others', async () => {
  const top = createDirectory({
    'repo/.claude/skills/mine/SKILL.md': skill('mine'),
    'one/skills/ship/SKILL.md': skill('ship'),
    'one/skills/ship/notes.md': 'more',
    'one/skills/README.md': 'no skill',
    'two/skills/pack/SKILL.md': skill('wrap-up'),
  });
  const { skills, notes } = await loadSkills(createDirectories(top, 'one', 'two'));
  expect(notes).toEqual([]);
  expect(skills.map(({ name, source }) => [name, source])).toEqual([
    ['mine', 'projectSettings'],
    ['ship', 'plugin'],
    ['pack', 'plugin'],
  ]);
  expect(skills[1]).toEqual({
    name: 'ship',
    alias: null,
    description: 'About ship',
    text: 'Do ship.',
    directory: path.join(top, 'one/skills/ship'),
    source: 'plugin',
    isOffered: true,
  });
  expect(findSkill('/wrap-up', skills)?.name).toBe('pack');
});

test('skills of the workspace and the user win, and so does the first of two packages; each skill that loses is noted', async () => {
  const top = createDirectory({
    'repo/.cline/skills/a/SKILL.md': skill('a'),
    'home/.claude/skills/b/SKILL.md': skill('b'),
    'one/skills/a/SKILL.md': skill('a'),
    'one/skills/b/SKILL.md': skill('b'),
    'one/skills/c/SKILL.md': skill('c'),
    'two/skills/c/SKILL.md': skill('c'),
  });
  const at = (name: string): string => path.join(top, name);
  const { skills, notes } = await loadSkills(createDirectories(top, 'one', 'two'));
  expect(skills.map(({ directory }) => directory).toSorted()).toEqual([
    at('home/.claude/skills/b'),
    at('one/skills/c'),
    at('repo/.cline/skills/a'),
  ]);
  expect(notes).toEqual([
    `${at('one/skills/a')} is ignored: skill a is already defined in ${at('repo/.cline/skills/a')}`,
    `${at('one/skills/b')} is ignored: skill b is already defined in ${at('home/.claude/skills/b')}`,
    `${at('two/skills/c')} is ignored: skill c is already defined in ${at('one/skills/c')}`,
  ]);
});

test('one that is disabled is left out, and one that leads out of its package is not read', async () => {
  const top = createDirectory({
    'one/skills/off/SKILL.md': skill('off', 'disabled: true\n'),
    'one/skills/out/notes.md': 'none',
    'secret/SKILL.md': skill('secret'),
  });
  const link = path.join(top, 'one/skills/out/SKILL.md');
  symlinkSync(path.join(top, 'secret/SKILL.md'), link);
  const { skills, notes } = await loadSkills(createDirectories(top, 'one', 'absent'));
  expect(skills).toEqual([]);
  expect(notes).toEqual([
    `${link} is ignored: it resolves to ${path.join(top, 'secret/SKILL.md')}, outside of ${path.join(top, 'one')}`,
  ]);
});
