import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Source } from '../../../../src/dialects/claude/entry.ts';
import { readFrontMatterHooks } from '../../../../src/dialects/claude/config/parse-yaml.ts';
import {
  findAgents,
  findSkills,
  readAgentHooks,
  readSkillHooks,
} from '../../../../src/dialects/claude/sources/skills-and-agents.ts';
import { createMachine } from './sources-machine.ts';

const SKILL = `---
name: secure
description: checks
hooks:
  PreToolUse:
    - matcher: "Bash"
      hooks:
        - type: command
          command: "./check.sh"
          once: true
  Stop:
    - hooks:
        - { type: command, command: stop.sh }
---
# Secure
hooks: none of this
`;

const AGENT = SKILL.replace('name: secure', 'name: rev').replace('          once: true\n', '');

const SOURCE: Source = {
  kind: 'skill',
  label: 'skill:x',
  file: '/x/SKILL.md',
  place: 'home',
  root: null,
  isCline: false,
  family: 'skill:/x',
  plugin: null,
};

describe('front matter', () => {
  test('of a skill gives its hooks, with lines of the file', () => {
    const { base } = createMachine({ 'proj/.claude/skills/secure/SKILL.md': SKILL });
    const root = path.join(base, 'proj/.claude/skills/secure');
    const file = path.join(root, 'SKILL.md');
    const { hooks, ignored } = readSkillHooks(file, { place: 'workspace', root: base });
    expect(ignored).toEqual([]);
    expect(hooks.broken).toEqual([]);
    expect(hooks.entries).toMatchObject([
      { event: 'PreToolUse', matcher: 'Bash', command: './check.sh', once: true, line: 8 },
      { event: 'Stop', command: 'stop.sh', once: false, line: 13 },
    ]);
    expect(hooks.entries[0]?.source).toEqual({
      kind: 'skill',
      label: 'skill:secure',
      file,
      place: 'workspace',
      root: base,
      isCline: false,
      family: `skill:${root}`,
      plugin: { name: 'secure', root, data: null, options: {} },
    });
  });

  test('of a sub-agent fires for it alone, and its Stop is SubagentStop', () => {
    const { base } = createMachine({ 'proj/.claude/agents/reviewer.md': AGENT });
    const file = path.join(base, 'proj/.claude/agents/reviewer.md');
    const { hooks } = readAgentHooks(file, { place: 'workspace', root: base });
    expect(hooks.entries).toMatchObject([
      {
        event: 'PreToolUse',
        agentType: 'rev',
        source: { kind: 'agent', label: 'agent:reviewer', plugin: null },
      },
      { event: 'SubagentStop', agentType: 'rev' },
    ]);
  });

  test.each([
    ['no front matter', '# Title\nhooks:\n  Stop: 1\n'],
    ['none with hooks', '---\nname: x\n---\nbody'],
    ['empty hooks', '---\nhooks:\n---\n'],
    ['a script in place of YAML', '---js\nmodule.exports = { hooks: { Stop: 1 } }\n---\n'],
    ['an end that never comes', '---\nhooks:\n  Stop: 1\n'],
  ])('with %s gives nothing', async (_name, text) => {
    const { entries, broken, ignored } = readFrontMatterHooks(text, SOURCE);
    expect({ entries, broken, ignored }).toEqual({ entries: [], broken: [], ignored: [] });
  });

  test.each([
    ['---\nname: x\nhooks: [\n---\n', null, 3],
    ['---\nhooks: 5\n---\n', null, 2],
    ['---\nname: x\nhooks:\n  Stop:\n    - hooks:\n        - type: nope\n---\n', 'Stop', 6],
    ['---\nhooks:\n  PreToolUse:\n    matcher: Bash\n---\n', 'PreToolUse', 4],
    [`---\nhooks: ${'['.repeat(20_000)}\n---\n`, null, 2],
  ])('that is broken is reported with its line: %#', async (text, event, line) => {
    const { entries, broken } = readFrontMatterHooks(text, SOURCE);
    expect(entries).toEqual([]);
    expect(broken).toMatchObject([{ event, line }]);
  });

  test('whose aliases would make it huge is read all the same', () => {
    const levels = Array.from({ length: 30 }, (_, index) =>
      index === 0 ? 'a0: &a0 [x]' : `a${index}: &a${index} [*a${index - 1}, *a${index - 1}]`,
    );
    const text = `---\n${levels.join('\n')}\nhooks:\n  Stop: *a29\n---\n`;
    const { broken } = readFrontMatterHooks(text, SOURCE);
    expect(broken.length).toBeGreaterThan(0);
  });
});

describe('skills and agents', () => {
  test('of the user and the project are found, each with its owner', () => {
    const { base, places } = createMachine({
      'home/.claude/skills/mine/SKILL.md': SKILL,
      'home/.claude/agents/mine.md': AGENT,
      'proj/.claude/skills/theirs/SKILL.md': SKILL,
      'proj/.claude/skills/not-a-skill/README.md': '',
      'proj/.claude/agents/theirs.md': AGENT,
      'proj/.claude/agents/notes.txt': '',
    });
    symlinkSync(
      path.join(base, 'proj/.claude/skills/theirs'),
      path.join(base, 'home/.claude/skills/linked'),
    );
    const show = (found: ReturnType<typeof findSkills>) =>
      found.map(({ file, place, root }) => [
        path.relative(base, file),
        place,
        root && path.relative(base, root),
      ]);
    expect(show(findSkills(places))).toEqual([
      ['home/.claude/skills/linked/SKILL.md', 'workspace', 'proj'],
      ['home/.claude/skills/mine/SKILL.md', 'home', null],
    ]);
    expect(show(findAgents(places))).toEqual([
      ['home/.claude/agents/mine.md', 'home', null],
      ['proj/.claude/agents/theirs.md', 'workspace', 'proj'],
    ]);
  });

  test('that are not there bring nothing', () => {
    const { hooks } = readSkillHooks('/nowhere/at/all/SKILL.md', {
      place: 'home',
      root: null,
    });
    expect(hooks.entries).toEqual([]);
  });
});
