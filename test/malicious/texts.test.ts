import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadAgents } from '../../src/agent/instructions/agents.ts';
import { loadCommands } from '../../src/agent/instructions/commands.ts';
import { loadInstructions } from '../../src/agent/instructions/instructions.ts';
import { loadSkills } from '../../src/agent/instructions/skills.ts';
import { openHooks } from '../../src/host/open-hooks.ts';
import { findInstructionPaths } from '../../src/host/text-exits.ts';
import { jsonOf, runHookline } from '../cli/hookline.ts';
import { createTempWorkspace, type TempWorkspace, trust, write } from '../cli/temp-workspace.ts';
import { prepareAttack } from './attack.ts';

/** Everything that a session in the repository would show the model. */
async function readTexts({ repo, home }: TempWorkspace) {
  const surroundings = {
    cwd: repo,
    env: { HOME: home },
    platform: process.platform,
    home,
    nodePath: process.execPath,
  };
  const paths = findInstructionPaths(openHooks({ surroundings }));
  const instructed = await loadInstructions({ ...paths, reason: 'session_start' });
  const nested = await instructed.loadForFile(path.join(repo, 'docs/x.ts'), 'main');
  const [{ commands }, { skills }, { agents }] = await Promise.all([
    loadCommands(paths),
    loadSkills(paths),
    loadAgents(paths),
  ]);
  return {
    text: JSON.stringify([instructed.instructions, nested.instructions, commands, skills, agents]),
    notes: [...instructed.notes, ...nested.notes],
  };
}

interface Listed {
  readonly id: string;
  readonly event: string;
  readonly state: string;
}

async function listIncludes({ repo, home }: TempWorkspace): Promise<Record<string, string>> {
  const result = await runHookline(['hooks', 'list', '--json'], { cwd: repo, home });
  const { hooks }: { readonly hooks: readonly Listed[] } = jsonOf(result);
  return Object.fromEntries(
    hooks.filter(({ event }) => event === 'instructions').map(({ id, state }) => [id, state]),
  );
}

describe('texts of a repository that lead out of it', () => {
  it('show the model nothing, are named once, and are listed', async () => {
    const attackWorkspace = prepareAttack('texts-that-lead-out');
    const { text, notes } = await readTexts(attackWorkspace);
    expect(text).not.toContain('CANARY');
    expect(new Set(notes).size).toBe(notes.length);
    expect(notes.join('\n')).toContain('includes @~/notes.md');
    const listed = await listIncludes(attackWorkspace);
    expect(new Set(Object.values(listed))).toEqual(new Set(['untrusted']));
    expect(Object.keys(listed)).toEqual(
      expect.arrayContaining([
        'include:CLAUDE.md:~/notes.md',
        'include:CLAUDE.md:~/.ssh/id_ed25519',
        'include:CLAUDE.md:/dev/zero',
        'include:AGENTS.md:~/notes.md',
        'include:docs/inner.md:~/more.md',
        'include:docs/CLAUDE.md:~/notes.md',
        'include:.claude/commands/steal.md:~/.ssh/id_ed25519',
        'include:.claude/agents/steal.md:~/notes.md',
        'include:.claude/skills/thief/SKILL.md:~/skills/thief/SKILL.md',
        'include:.cline/skills:~/skills',
      ]),
    );
  });

  it('show exactly what was trusted, and what that includes needs trust of its own', async () => {
    const attackWorkspace = prepareAttack('texts-that-lead-out');
    trust(attackWorkspace, ['include:CLAUDE.md:~/notes.md']);
    const { text } = await readTexts(attackWorkspace);
    expect(text.match(/CANARY \w+/g)).toEqual(['CANARY notes']);
    const listed = await listIncludes(attackWorkspace);
    expect(listed['include:CLAUDE.md:~/notes.md']).toBe('ready');
    expect(listed['include:~/notes.md:~/more.md']).toBe('untrusted');
  });

  it('lose the trust when they lead elsewhere', async () => {
    const workspace = createTempWorkspace({ 'CLAUDE.md': '@~/notes.md' });
    write(workspace.home, 'notes.md', 'CANARY notes');
    write(workspace.home, 'key.md', 'CANARY key');
    trust(workspace);
    expect((await readTexts(workspace)).text).toContain('CANARY notes');
    write(workspace.repo, 'CLAUDE.md', 'Be kind. @~/notes.md');
    expect((await readTexts(workspace)).text).toContain('CANARY notes');
    write(workspace.repo, 'CLAUDE.md', '@~/notes.md @~/key.md');
    expect((await readTexts(workspace)).text).not.toContain('CANARY key');
  });

  it('are shown by `trust` with the path that they lead to', async () => {
    const workspace = createTempWorkspace({ 'CLAUDE.md': '@~/notes.md' });
    const { repo: cwd, home } = workspace;
    const shown = await runHookline(['trust'], { cwd, home });
    expect(shown.stdout).toContain(`shows     ${home}/notes.md to the model`);
    const list = await runHookline(['hooks', 'list'], { cwd, home });
    expect(list.stdout).toContain('1 include needs review: run `hookline trust`');
  });

  it('leave the user’s own instructions as they are', async () => {
    const workspace = createTempWorkspace({ 'CLAUDE.md': 'theirs' });
    write(workspace.home, '.claude/CLAUDE.md', '@~/own.md');
    write(workspace.home, 'own.md', 'CANARY own');
    const { text, notes } = await readTexts(workspace);
    expect(text).toContain('CANARY own');
    expect(notes).toEqual([]);
    expect(await listIncludes(workspace)).toEqual({});
  });

  it.each(['.claude/rules', '.claude/rules/deep', '.clinerules', 'docs/.claude/rules'])(
    'are not searched behind a linked directory of rules: %s',
    async (place) => {
      const workspace = createTempWorkspace({ 'docs/x.ts': '' });
      const { home, repo } = workspace;
      for (const name of ['one.md', 'two.md', 'below/three.md']) write(home, name, 'CANARY');
      mkdirSync(path.join(repo, path.dirname(place)), { recursive: true });
      symlinkSync(home, path.join(repo, place));
      const { text, notes } = await readTexts(workspace);
      expect(text).not.toContain('CANARY');
      expect(notes).toEqual([
        `${repo}/${place} links to ${home}, outside of the workspace: ignored until you trust it with \`hookline trust\``,
      ]);
      expect(await listIncludes(workspace)).toEqual({ [`include:${place}:~`]: 'untrusted' });
      trust(workspace);
      expect((await readTexts(workspace)).text).toContain('CANARY');
    },
  );

  it('cannot multiply the directories of commands with links', async () => {
    const workspace = createTempWorkspace({ '.claude/commands/a.md': 'be kind' });
    for (let index = 0; index < 60; index += 1) {
      symlinkSync('.', path.join(workspace.repo, '.claude/commands', `link-${index}`));
    }
    expect(await listIncludes(workspace)).toEqual({});
  });

  it('cannot multiply the directories of rules with links', async () => {
    const workspace = createTempWorkspace({ '.claude/rules/a.md': 'be kind' });
    for (let index = 0; index < 60; index += 1) {
      symlinkSync('.', path.join(workspace.repo, '.claude/rules', `link-${index}`));
    }
    const { text, notes } = await readTexts(workspace);
    expect(text).toContain('be kind');
    expect(notes).toEqual([
      `${workspace.repo}/.claude/rules contains more than 1,000 files and directories; the rest is ignored`,
    ]);
  });
});

describe('texts of a repository that include what a rule denies to read', () => {
  it('are read without it, which is reported once', async () => {
    const workspace = createTempWorkspace({
      'CLAUDE.md': 'See @.env and @docs/a.md and again @.env\n',
      'docs/a.md': 'See @../.env\n',
      'AGENTS.md': 'See @.env\n',
      '.env': 'PASSWORD_IN_ENV=1\n',
    });
    const { repo, home, directory } = workspace;
    const command = write(repo, '.claude/commands/b.md', '');
    symlinkSync('../../.env', `${command}.md`);
    const note = { type: 'command', command: 'cat >> "$HOME/loaded"; echo >> "$HOME/loaded"' };
    const hooks = { InstructionsLoaded: [{ hooks: [note] }] };
    write(home, '.claude/settings.json', JSON.stringify({ hooks }));
    const script = write(directory, 'turns.json', JSON.stringify([{ text: 'done' }]));
    const args = ['run', '--script', script, '--sandbox', 'off', '--deny', 'Read(.env)', 'go'];
    const { code, stderr } = await runHookline(args, { cwd: repo, home });
    expect(code).toBe(0);
    const loaded = readFileSync(path.join(home, 'loaded'), 'utf8');
    expect(loaded).toContain(path.join(repo, 'docs/a.md'));
    expect(loaded).not.toContain(path.join(repo, '.env'));
    const notes = stderr.split('\n').filter((line) => line.includes('a rule denies'));
    expect(notes).toEqual([
      `warning: ${repo}/CLAUDE.md includes ${repo}/.env, which is ignored: a rule denies to read it`,
      `warning: ${repo}/.claude/commands/b.md.md is ignored: a rule denies to read it`,
    ]);
  });
});
