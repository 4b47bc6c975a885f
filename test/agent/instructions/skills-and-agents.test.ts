import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  findAgentType,
  loadAgents,
  selectAgentTools,
} from '../../../src/agent/instructions/agents.ts';
import { toSkillCommand, findSkill, loadSkills } from '../../../src/agent/instructions/skills.ts';
import { createDirectory } from '../../base/directory.ts';

describe('skills', () => {
  test('are found in the project, the home, Cline’s directory and plugins', async () => {
    const top = createDirectory({
      'repo/.claude/skills/pdf/SKILL.md':
        '---\nname: pdf\ndescription: Reads PDFs\n---\nRead it.\n',
      'repo/.claude/skills/pdf/run.py': '',
      'repo/.claude/skills/loose.md': 'no skill',
      'repo/.cline/skills/pdf/SKILL.md': 'hidden by the first',
      'repo/.cline/skills/cl/SKILL.md': 'No front matter.',
      'home/.claude/skills/mine/SKILL.md':
        '---\nname: my-skill\ndescription: Mine\ndisable-model-invocation: true\n---\nSecretly.',
      'plug/skills/ship/SKILL.md': '---\ndescription: Ships\n---\nShip.',
    });
    const at = (name: string): string => path.join(top, name);
    const { skills, notes } = await loadSkills({
      startDirectory: at('repo'),
      roots: [at('repo')],
      home: at('home'),
      plugins: [{ name: 'acme', directory: at('plug') }],
    });
    expect(notes).toEqual([]);
    expect(skills).toEqual([
      {
        name: 'pdf',
        alias: null,
        description: 'Reads PDFs',
        text: 'Read it.',
        directory: at('repo/.claude/skills/pdf'),
        source: 'projectSettings',
        isOffered: true,
      },
      {
        name: 'mine',
        alias: 'my-skill',
        description: 'Mine',
        text: 'Secretly.',
        directory: at('home/.claude/skills/mine'),
        source: 'userSettings',
        isOffered: false,
      },
      {
        name: 'acme:ship',
        alias: null,
        description: 'Ships',
        text: 'Ship.',
        directory: at('plug/skills/ship'),
        source: 'plugin',
        isOffered: true,
      },
      {
        name: 'cl',
        alias: null,
        description: '',
        text: 'No front matter.',
        directory: at('repo/.cline/skills/cl'),
        source: 'projectSettings',
        isOffered: true,
      },
    ]);
    const found = ['pdf', '/pdf', 'my-skill', 'ship', 'acme:ship', 'none'].map(
      (name) => findSkill(name, skills)?.name ?? null,
    );
    expect(found).toEqual(['pdf', 'pdf', 'mine', 'acme:ship', 'acme:ship', null]);
    const [pdf] = skills;
    expect(pdf === undefined ? null : toSkillCommand(pdf)).toEqual({
      name: 'pdf',
      description: 'Reads PDFs',
      argumentHint: null,
      allowedTools: [],
      model: null,
      source: 'projectSettings',
      file: at('repo/.claude/skills/pdf/SKILL.md'),
      text: `Base directory for this skill: ${at('repo/.claude/skills/pdf')}\n\nRead it.`,
    });
  });
});

describe('kinds of sub-agents', () => {
  test('are found in the project and the home, beside the built-in ones', async () => {
    const top = createDirectory({
      'repo/.claude/agents/reviewer.md':
        '---\nname: reviewer\ndescription: Reviews\ntools: Read, Grep, Bash(git log:*)\nmodel: inherit\n---\nYou review.\n',
      'repo/.claude/agents/explore.md':
        '---\nname: Explore\ndescription: Ours\nmodel: small\n---\nLook.',
      'home/.claude/agents/reviewer.md': '---\nname: reviewer\n---\nhidden',
      'home/.claude/agents/bare.md': 'Just a prompt.',
    });
    const at = (name: string): string => path.join(top, name);
    const { agents, notes } = await loadAgents({
      startDirectory: at('repo'),
      roots: [at('repo')],
      home: at('home'),
    });
    expect(notes).toEqual([]);
    const plain = { tools: null, disallowedTools: [], model: null };
    expect(agents.slice(0, 3)).toEqual([
      {
        ...plain,
        name: 'Explore',
        description: 'Ours',
        model: 'small',
        prompt: 'Look.',
        source: 'projectSettings',
        file: at('repo/.claude/agents/explore.md'),
      },
      {
        ...plain,
        name: 'reviewer',
        description: 'Reviews',
        tools: ['Read', 'Grep', 'Bash(git log:*)'],
        prompt: 'You review.',
        source: 'projectSettings',
        file: at('repo/.claude/agents/reviewer.md'),
      },
      {
        ...plain,
        name: 'bare',
        description: '',
        prompt: 'Just a prompt.',
        source: 'userSettings',
        file: at('home/.claude/agents/bare.md'),
      },
    ]);
    expect(agents.slice(3).map(({ name, tools }) => [name, tools])).toEqual([
      ['general-purpose', null],
    ]);
    expect(findAgentType('Reviewer', agents)?.name).toBe('reviewer');
    expect(findAgentType('nobody', agents)).toBe(null);
  });

  test('without any file there are two', async () => {
    const { agents } = await loadAgents({ startDirectory: '/nowhere', roots: [], home: null });
    expect(agents.map(({ name, tools }) => [name, tools])).toEqual([
      ['general-purpose', null],
      ['Explore', ['Read', 'Grep', 'Glob', 'WebFetch']],
    ]);
  });

  test('have the tools that they list, and never those of the main agent', () => {
    const names = ['Read', 'Bash', 'Agent', 'AskUserQuestion', 'mcp__gh__list', 'mcp__db__read'];
    const cases: readonly [readonly string[] | null, readonly string[], readonly string[]][] = [
      [null, [], ['Read', 'Bash', 'mcp__gh__list', 'mcp__db__read']],
      [['*'], ['Bash'], ['Read', 'mcp__gh__list', 'mcp__db__read']],
      [['Bash(git log:*)', 'Agent'], [], ['Bash']],
      [['Read', 'mcp__gh'], [], ['Read', 'mcp__gh__list']],
      [[], [], []],
    ];
    for (const [tools, disallowedTools, expected] of cases) {
      expect(selectAgentTools({ tools, disallowedTools }, names)).toEqual(expected);
    }
  });
});
