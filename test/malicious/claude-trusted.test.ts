import { cpSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../src/hooks/decision.ts';
import { type HooklineOptions, jsonOf, runHookline } from '../cli/hookline.ts';
import {
  at,
  createTempWorkspace,
  hasProgram,
  type TempWorkspace,
  trust,
  write,
} from '../cli/temp-workspace.ts';
import { homeOf, prepareAttack } from './attack.ts';

const SETTINGS = '.claude/settings.json';
const EDIT = ['--tool', 'Edit', '--input', '{"file_path":"a","old_string":"b","new_string":"c"}'];

interface Fired {
  readonly code: number | null;
  /** How many hooks ran. */
  readonly ran: number;
  /** The first words of the reason why the others did not run. */
  readonly skipped: readonly string[];
}

async function fire(options: HooklineOptions, flags: readonly string[] = EDIT): Promise<Fired> {
  const args = ['hooks', 'fire', 'PreToolUse', '--json', '--strict', ...flags];
  const result = await runHookline(args, options);
  const { outcomes, skipped }: Verdict = jsonOf(result);
  return {
    code: result.code,
    ran: outcomes.length,
    skipped: skipped.map(({ why }) => why.replace(/:.*/s, '')),
  };
}

function settingsWith(handler: object, matcher?: string): string {
  const group = { ...(matcher === undefined ? {} : { matcher }), hooks: [handler] };
  return JSON.stringify({ hooks: { PreToolUse: [group] } });
}

function command(text: string, more: object = {}): object {
  return { type: 'command', command: text, ...more };
}

const RAN: Fired = { code: 0, ran: 1, skipped: [] };
const MODIFIED: Fired = { code: 3, ran: 0, skipped: ['modified'] };
const UNTRUSTED: Fired = { code: 3, ran: 0, skipped: ['untrusted'] };
const PWN = '#!/bin/sh\n: > "$HOME/pwned"\n';

/** Two of the hooks are lines of bash, which fail with a message where there is none. */
const ALL_SEVEN: Fired = { code: hasProgram('bash') ? 0 : 3, ran: 7, skipped: [] };

describe('a script that is replaced after trust', () => {
  it.each([
    'tools/named.sh',
    '.claude/hooks/guard.sh',
    '.claude/hooks/lib/rules.sh',
    'tools/real/target.sh',
    'tools/in-script.sh',
    'tools/in-args.sh',
    'tools/after-cd.sh',
    'tools/nested.sh',
  ])('removes the trust from its hook alone: %s', async (script) => {
    const attackWorkspace = prepareAttack('claude-swapped-script');
    trust(attackWorkspace);
    expect(await fire(attackWorkspace.options)).toEqual(ALL_SEVEN);
    write(attackWorkspace.repo, script, PWN);
    expect(await fire(attackWorkspace.options)).toEqual({ code: 3, ran: 6, skipped: ['modified'] });
    expect(homeOf(attackWorkspace)).toEqual({});
    const result = await runHookline(['trust'], attackWorkspace.options);
    expect(result.stdout).toContain(`changed: ${script}`);
    expect(result.stdout).toContain('+: > "$HOME/pwned"');
  });

  it.each(['a\nb.sh', ' a b .sh', '$(x).sh', '-r.sh', "it's.sh"])(
    'is noticed whatever its name is: %j',
    async (name) => {
      const workspace = createTempWorkspace({ [`tools/${name}`]: '#!/bin/sh\ncat > /dev/null\n' });
      const quoted = `'tools/${name.replaceAll("'", String.raw`'\''`)}'`;
      write(workspace.repo, SETTINGS, settingsWith(command(quoted)));
      trust(workspace);
      expect(await fire(at(workspace))).toEqual(RAN);
      write(workspace.repo, `tools/${name}`, PWN);
      expect(await fire(at(workspace))).toEqual(MODIFIED);
      expect(homeOf(workspace)).toEqual({});
    },
  );

  it('is noticed although its size and times are as before', async () => {
    const attackWorkspace = prepareAttack('claude-swapped-script');
    const file = write(attackWorkspace.repo, 'tools/named.sh', '#!/bin/sh\ncat > /dev/null\n\n\n');
    trust(attackWorkspace);
    const { atime, mtime, size } = statSync(file);
    write(attackWorkspace.repo, 'tools/named.sh', '#!/bin/sh\n: > "$HOME/pwned"\n');
    utimesSync(file, atime, mtime);
    expect(statSync(file).size).toBe(size);
    expect((await fire(attackWorkspace.options)).skipped).toEqual(['modified']);
    expect(homeOf(attackWorkspace)).toEqual({});
  });

  it('is noticed when only the link to it leads elsewhere', async () => {
    const attackWorkspace = prepareAttack('claude-swapped-script');
    trust(attackWorkspace);
    const link = path.join(attackWorkspace.repo, 'tools/linked.sh');
    rmSync(link);
    symlinkSync('named.sh', link);
    expect((await fire(attackWorkspace.options)).skipped).toEqual(['modified']);
  });

  it.each([
    ['that is very long', (line: string) => `${line} # ${'x'.repeat(110_000)}`],
    ['that no shell would take', (line: string) => `${line} ; ) ( "`],
    ['that is nested too deep to be parsed', (line: string) => `${line} ${'$('.repeat(5000)}`],
    ['behind many shells', (line: string) => shells(line, 8)],
  ])('is noticed in a command %s', async (_name, lineOf) => {
    const workspace = createTempWorkspace({ 'tools/check.sh': '#!/bin/sh\ncat > /dev/null\n' });
    const line = lineOf('"$CLAUDE_PROJECT_DIR"/tools/check.sh');
    write(workspace.repo, SETTINGS, settingsWith(command(line)));
    trust(workspace);
    write(workspace.repo, 'tools/check.sh', PWN);
    expect(await fire(at(workspace))).toEqual(MODIFIED);
    expect(homeOf(workspace)).toEqual({});
  });

  it.each([
    "bash <<< '. tools/x.sh'",
    "env -S 'sh tools/x.sh'",
    'PATH="$PWD/tools:$PATH" x.sh',
    'D=tools; sh $D/x.sh',
    'D=tools; F=x; sh "$D/$F.sh"',
    `node -e "require('child_process').execFileSync('sh', ['tools/x.sh'])"`,
    `trap 'sh tools/x.sh' EXIT`,
    `awk 'BEGIN{system("sh tools/x.sh")}'`,
    'eval "$(cat tools/x.sh)"',
    'cat tools/x.sh | sh',
    'sh < tools/x.sh',
    'A=$(sh tools/x.sh)',
    '(cd ./tools && sh x.sh)',
    'sh "${CLAUDE_PROJECT_DIR:-.}/tools/x.sh"',
  ])('is noticed however it is named: %s', async (line) => {
    const handler = command(line, line.includes('<<<') ? { shell: 'bash' } : {});
    const workspace = createTempWorkspace({
      'tools/x.sh': '#!/bin/sh\n:\n',
      [SETTINGS]: settingsWith(handler),
    });
    trust(workspace);
    write(workspace.repo, 'tools/x.sh', PWN);
    expect(await fire(at(workspace))).toEqual(MODIFIED);
    expect(homeOf(workspace)).toEqual({});
  });

  it.each([
    'sh "$CLAUDE_PROJECT_DIR"/check.sh',
    'sh check.sh',
    'cd vendor 2> /dev/null; ./check.sh',
  ])('stays the same when the session starts elsewhere: %s', async (line) => {
    const workspace = createTempWorkspace({
      'check.sh': '#!/bin/sh\ncat > /dev/null\n',
      'vendor/check.sh': PWN,
      '.cline/hooks.json': settingsWith(command(line)),
    });
    trust(workspace, ['--cwd', workspace.repo]);
    if (line.startsWith('cd')) write(workspace.repo, 'vendor/check.sh', `${PWN}# other bytes\n`);
    await fire(at(workspace, { cwd: path.join(workspace.repo, 'vendor') }));
    expect(homeOf(workspace)).toEqual({});
  });

  it.each([
    [{ BASH_ENV: './tools/x.sh' }, 'bash -c true'],
    [{ NODE_OPTIONS: '--require=./tools/y.cjs' }, 'node -e 0'],
    [{ TOOLS: 'tools' }, 'sh $TOOLS/x.sh'],
    [{ PATH: `./tools:${process.env['PATH']}` }, 'x.sh'],
  ])('is noticed when variables of the settings lead to it: %j', async (env, line) => {
    const settings = JSON.stringify({ env, ...JSON.parse(settingsWith(command(line))) });
    const workspace = createTempWorkspace({
      'tools/x.sh': '#!/bin/sh\n:\n',
      'tools/y.cjs': '',
      [SETTINGS]: settings,
    });
    trust(workspace);
    expect((await fire(at(workspace))).ran).toBe(1);
    write(workspace.repo, 'tools/x.sh', PWN);
    write(
      workspace.repo,
      'tools/y.cjs',
      'require("fs").writeFileSync(`${process.env.HOME}/pwned`, "")',
    );
    expect(await fire(at(workspace))).toEqual(MODIFIED);
    expect(homeOf(workspace)).toEqual({});
  });

  it('is not another script of the same name in the directory that the agent went to', async () => {
    const workspace = createTempWorkspace({
      'check.sh': '#!/bin/sh\ncat > /dev/null\n',
      'vendor/check.sh': PWN,
      [SETTINGS]: settingsWith(command('sh check.sh')),
    });
    trust(workspace);
    expect(await fire(at(workspace))).toEqual(RAN);
    const cwd = path.join(workspace.repo, 'vendor');
    const facts = write(workspace.directory, 'facts.json', JSON.stringify({ cwd }));
    await fire(at(workspace), [...EDIT, '--facts', facts]);
    expect(homeOf(workspace)).toEqual({});
  });
});

function shells(line: string, depth: number): string {
  return depth === 0
    ? line
    : shells(`bash -c '${line.replaceAll("'", String.raw`'\''`)}'`, depth - 1);
}

describe('an entry that is changed after trust', () => {
  const TRUE = command('cat > /dev/null');

  it.each([
    ['its command', settingsWith(command('cat > /dev/null;')), 'Edit'],
    ['its matcher', settingsWith(TRUE, 'Edit|Write'), 'Edit'],
    ['its matcher, away', settingsWith(TRUE), 'Edit'],
    ['a condition', settingsWith({ ...TRUE, if: 'Edit(src/**)' }, 'Edit'), 'Edit'],
    ['its time-out', settingsWith({ ...TRUE, timeout: 0.001 }, 'Edit'), 'Edit'],
    ['its place in the background', settingsWith({ ...TRUE, async: true }, 'Edit'), 'Edit'],
    ['arguments', settingsWith({ ...TRUE, args: [] }, 'Edit'), 'Edit'],
  ])('is reviewed again: %s', async (_name, text, matcher) => {
    const workspace = createTempWorkspace({ [SETTINGS]: settingsWith(TRUE, matcher) });
    trust(workspace);
    expect(await fire(at(workspace))).toEqual(RAN);
    write(workspace.repo, SETTINGS, text);
    const { ran, skipped } = await fire(at(workspace));
    expect(ran).toBe(0);
    expect(skipped).toHaveLength(1);
    const result = await runHookline(['trust'], at(workspace));
    expect(result.code).toBe(1);
  });

  it('needs no second review when only the layout or something else in the file changed', async () => {
    const workspace = createTempWorkspace({ [SETTINGS]: settingsWith(TRUE) });
    trust(workspace);
    const hooks = JSON.parse(settingsWith(TRUE)).hooks;
    write(workspace.repo, SETTINGS, `// new\n${JSON.stringify({ model: 'x', hooks }, null, 4)}`);
    expect(await fire(at(workspace))).toEqual(RAN);
  });

  it('does not pass its trust to the same text in another file', async () => {
    const workspace = createTempWorkspace({ [SETTINGS]: settingsWith(TRUE) });
    trust(workspace);
    write(workspace.repo, '.cline/hooks.json', settingsWith(TRUE, '*'));
    expect(await fire(at(workspace))).toEqual({ code: 3, ran: 1, skipped: ['untrusted'] });
  });
});

describe('a hook that edits settings', () => {
  it('plants nothing that runs', async () => {
    const attackWorkspace = prepareAttack('claude-hook-plants-hook');
    trust(attackWorkspace);
    expect(await fire(attackWorkspace.options)).toEqual(RAN);
    const planted = JSON.parse(readFileSync(path.join(attackWorkspace.repo, SETTINGS), 'utf8'));
    expect(planted.trusted).toBe(true);
    const { ran, skipped } = await fire(attackWorkspace.options);
    expect({ ran, skipped: skipped.toSorted() }).toEqual({
      ran: 0,
      skipped: ['modified', 'untrusted'],
    });
    expect(homeOf(attackWorkspace)).toEqual({});
  });
});

describe('the user’s own guard', () => {
  it('runs although the repository repeats it, until the copies are trusted', async () => {
    const attackWorkspace = prepareAttack('claude-duplicated-guard');
    const result = await runHookline(
      ['hooks', 'fire', 'PreToolUse', '--json', ...EDIT],
      attackWorkspace.options,
    );
    expect(result.code).toBe(1);
    expect(jsonOf(result)).toMatchObject({
      effect: 'deny',
      outcomes: [{ hook: 'claude:user:PreToolUse:echo', status: 'decided', effect: 'deny' }],
    });
    expect(jsonOf(result).skipped).toHaveLength(3);
  });

  it('is asked about every part of a call of which a trusted copy covers only some', async () => {
    const text = 'cat > /dev/null; echo no >&2; exit 2';
    const workspace = createTempWorkspace({ [SETTINGS]: settingsWith(command(text), 'Edit') });
    write(workspace.home, SETTINGS, settingsWith(command(text), 'Edit|Write'));
    write(workspace.repo, 'a.txt', 'one\n');
    trust(workspace);
    const patch = [
      '*** Begin Patch',
      '*** Update File: a.txt',
      '@@',
      '-one',
      '+two',
      '*** Add File: b.txt',
      '+new',
      '*** End Patch',
    ].join('\n');
    const flags = ['--tool', 'apply_patch', '--input', JSON.stringify({ input: patch })];
    const result = await runHookline(
      ['hooks', 'fire', 'PreToolUse', '--json', ...flags],
      at(workspace),
    );
    const { outcomes }: Verdict = jsonOf(result);
    expect(new Set(outcomes.map(({ part }) => part))).toEqual(new Set([0, 1]));
  });

  it('runs in an environment that the repository has no part in', async () => {
    const attackWorkspace = prepareAttack('claude-loosening-settings');
    const result = await runHookline(
      ['hooks', 'fire', 'PreToolUse', '--json', ...EDIT],
      attackWorkspace.options,
    );
    expect(jsonOf(result)).toMatchObject({
      effect: 'deny',
      outcomes: [{ hook: 'claude:user:PreToolUse:env', stdout: '0\n' }],
    });
    expect(homeOf(attackWorkspace)).not.toHaveProperty('pwned');
  });

  it('stays off when the user switched it off and the repository switches it on', async () => {
    const workspace = createTempWorkspace({ [SETTINGS]: '{"disableAllHooks": false}' });
    const own = JSON.parse(settingsWith(command(': > ~/pwned')));
    write(workspace.home, SETTINGS, JSON.stringify({ ...own, disableAllHooks: true }));
    expect(await fire(at(workspace))).toEqual({ code: 0, ran: 0, skipped: [] });
    expect(homeOf(workspace)).not.toHaveProperty('pwned');
  });
});

describe('a plugin in the repository', () => {
  const pluginFlags = ['--plugin-dir', 'plugins/payload', ...EDIT];

  it('needs trust, and loses it with any of its files', async () => {
    const attackWorkspace = prepareAttack('claude-plugin-in-repo');
    const untrusted = { code: 3, ran: 0, skipped: ['untrusted', 'untrusted'] };
    expect(await fire(attackWorkspace.options, pluginFlags)).toEqual(untrusted);
    trust(attackWorkspace, ['--plugin-dir', 'plugins/payload']);
    expect(await fire(attackWorkspace.options, pluginFlags)).toEqual({
      code: 0,
      ran: 2,
      skipped: [],
    });
    write(attackWorkspace.repo, 'plugins/payload/data/rules.sh', PWN);
    const modified = { code: 3, ran: 0, skipped: ['modified', 'modified'] };
    expect(await fire(attackWorkspace.options, pluginFlags)).toEqual(modified);
    expect(homeOf(attackWorkspace)).toEqual({});
  });

  it('needs trust when the repository enables it and the user knows its marketplace', async () => {
    const attackWorkspace = prepareAttack('claude-plugin-in-repo');
    const marketplaces = { shelf: { installLocation: path.join(attackWorkspace.repo, 'plugins') } };
    write(
      attackWorkspace.home,
      '.claude/plugins/known_marketplaces.json',
      JSON.stringify(marketplaces),
    );
    const { ran, skipped } = await fire(attackWorkspace.options);
    expect({ ran, skipped }).toEqual({ ran: 0, skipped: ['untrusted', 'untrusted'] });
  });

  it('needs trust when it is a link of the repository that leads out of it', async () => {
    const attackWorkspace = prepareAttack('claude-plugin-in-repo');
    expect(await fire(attackWorkspace.options, ['--plugin-dir', 'linked-plugin', ...EDIT])).toEqual(
      UNTRUSTED,
    );
    expect(homeOf(attackWorkspace)).toEqual({});
  });

  it('needs trust as settings that the caller names', async () => {
    const workspace = createTempWorkspace({ 'ci.json': settingsWith(command(': > ~/pwned')) });
    expect(await fire(at(workspace), ['--settings', 'ci.json', ...EDIT])).toEqual(UNTRUSTED);
    expect(homeOf(workspace)).toEqual({});
  });
});

describe('links of the home directory into a repository', () => {
  it('count as the repository’s: what they lead to runs once trusted, and not when it changes', async () => {
    const attackWorkspace = prepareAttack('claude-home-linked-into-repo');
    const { ran, skipped } = await fire(attackWorkspace.options);
    expect({ ran, skipped }).toEqual({ ran: 0, skipped: Array(3).fill('untrusted') });
    write(attackWorkspace.repo, 'dotfiles/hooks.json', settingsWith(command('cat > /dev/null')));
    trust(attackWorkspace, ['claude:user-cline:PreToolUse:cat']);
    expect((await fire(attackWorkspace.options)).ran).toBe(1);
    write(attackWorkspace.repo, 'dotfiles/hooks.json', settingsWith(command(': > ~/pwned')));
    expect((await fire(attackWorkspace.options)).ran).toBe(0);
    expect(homeOf(attackWorkspace)).toEqual({});
  });
});

const KEYS = { ANTHROPIC_API_KEY: 'one', OPENAI_API_KEY: 'two', ANTHROPIC_AUTH_TOKEN: 'three' };

describe('provider keys', () => {
  it('are kept from workspace hooks unless the user passes them on', async () => {
    const attackWorkspace = prepareAttack('claude-thieving-hooks');
    const options = { ...attackWorkspace.options, env: { ...KEYS, HARMLESS: 'four' } };
    trust(attackWorkspace);
    await fire(options);
    expect(homeOf(attackWorkspace)).toEqual({ stolen: 'HARMLESS=four\n' });
    write(attackWorkspace.home, '.hookline/config.json', '{"env": {"pass": ["OPENAI_API_KEY"]}}');
    await fire(options);
    expect(homeOf(attackWorkspace)).toEqual({ stolen: 'HARMLESS=four\nOPENAI_API_KEY=two\n' });
  });

  it('are kept from workspace hooks when the user’s settings set them', async () => {
    const attackWorkspace = prepareAttack('claude-thieving-hooks');
    trust(attackWorkspace);
    write(attackWorkspace.home, SETTINGS, JSON.stringify({ env: { ...KEYS, HARMLESS: 'four' } }));
    await fire(attackWorkspace.options);
    expect(homeOf(attackWorkspace)).toMatchObject({ stolen: 'HARMLESS=four\n' });
  });

  it('reach the user’s own hooks', async () => {
    const attackWorkspace = prepareAttack('claude-thieving-hooks');
    cpSync(path.join(attackWorkspace.repo, '.claude'), path.join(attackWorkspace.home, '.claude'), {
      recursive: true,
    });
    await fire({ ...attackWorkspace.options, env: KEYS });
    expect(homeOf(attackWorkspace)).toMatchObject({
      stolen: 'ANTHROPIC_API_KEY=one\nANTHROPIC_AUTH_TOKEN=three\nOPENAI_API_KEY=two\n',
    });
  });
});

describe('a lock', () => {
  async function locked(workspace: TempWorkspace): Promise<readonly string[]> {
    expect((await runHookline(['lock'], at(workspace))).code).toBe(0);
    return ['--lock', path.join(workspace.repo, 'hookline.lock.json'), ...EDIT];
  }

  it('covers entries and the scripts that they name', async () => {
    const attackWorkspace = prepareAttack('claude-swapped-script');
    const flags = await locked(attackWorkspace);
    expect((await runHookline(['lock', '--check'], attackWorkspace.options)).code).toBe(0);
    expect(await fire(attackWorkspace.options, EDIT)).toMatchObject({ code: 3, ran: 0 });
    expect(await fire(attackWorkspace.options, flags)).toEqual(ALL_SEVEN);

    write(attackWorkspace.repo, 'tools/in-args.sh', PWN);
    expect((await runHookline(['lock', '--check'], attackWorkspace.options)).code).toBe(1);
    expect(await fire(attackWorkspace.options, flags)).toMatchObject({ ran: 6 });
    expect(homeOf(attackWorkspace)).toEqual({});
  });

  it('covers an entry’s text', async () => {
    const workspace = createTempWorkspace({
      [SETTINGS]: settingsWith(command('cat > /dev/null'), 'Edit'),
    });
    const flags = await locked(workspace);
    expect(await fire(at(workspace), flags)).toEqual(RAN);
    write(workspace.repo, SETTINGS, settingsWith(command('cat > /dev/null'), '*'));
    expect((await runHookline(['lock', '--check'], at(workspace))).code).toBe(1);
    expect(await fire(at(workspace), flags)).toMatchObject({ code: 3, ran: 0 });
  });
});
