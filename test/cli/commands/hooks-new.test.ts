import { existsSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { NewOptions } from '../../../src/cli/commands/hooks-new.ts';
import type { GlobalFlags } from '../../../src/cli/context.ts';
import { FILE_HOOK_NAMES } from '../../../src/dialects/cline-files/events.ts';
import { HOOK_LANGUAGES } from '../../../src/dialects/cline-files/templates/plan.ts';
import { SCRIPT_LANGUAGE_NAMES } from '../../../src/dialects/templates.ts';
import { refusalOf } from '../../base/refusal.ts';
import { enterNewWorkspace, type NewHookOutput, collectNewHookOutput } from './new-hook.ts';
import {
  hasPrograms,
  openWorkspaceHost,
  programPath,
  statesOf,
  type TempWorkspace,
  trustWorkspaceHooks,
  write,
} from '../../dialects/template-fixture.ts';

const HOOKS = path.join('.clinerules', 'hooks');
const SIBLING = '#!/usr/bin/env node\nconsole.log("{}");\n';

let workspace: TempWorkspace;

beforeEach(() => {
  workspace = enterNewWorkspace();
});

afterEach(() => {
  vi.unstubAllEnvs();
  workspace.remove();
});

function make(options: NewOptions, flags: GlobalFlags = {}): Promise<NewHookOutput> {
  return collectNewHookOutput(options, { cwd: workspace.root, ...flags });
}

function refusal(options: NewOptions): ReturnType<typeof refusalOf> {
  return refusalOf(make(options));
}

function inRoot(...names: string[]): string {
  return path.join(workspace.root, ...names);
}

describe('hooks new', () => {
  it('writes an executable hook, trusts it, and says how to try it', async () => {
    const output = await make({ event: 'PreToolUse', lang: 'node' });
    const file = inRoot(HOOKS, 'PreToolUse');
    expect(output).toEqual({
      out: [
        [
          file,
          'It runs before every tool call, and denies commands that would delete the whole disk or home directory.',
          `  try it:         hookline hooks fire PreToolUse --tool execute_command --input '{"command":"rm -rf /"}' --cwd '${workspace.root}'`,
          '  after editing:  hookline trust',
        ].join('\n'),
      ],
      json: [],
      notes: [],
    });
    expect(statSync(file).mode & 0o777).toBe(0o755);
    expect(await statesOf(workspace)).toEqual({ 'cline:workspace:PreToolUse': 'ready' });
  });

  it('writes a hook that works at once', async () => {
    await make({ event: 'PreToolUse', lang: 'node' });
    const host = await openWorkspaceHost(workspace);
    const tool = { callId: '1', name: 'Bash', input: { command: 'rm -rf /' } };
    const verdict = await host.engine.dispatch({ name: 'PreToolUse', tool });
    await host.dispose();
    expect(verdict.effect).toBe('deny');
  });

  it('prints JSON', async () => {
    const output = await make({ event: 'PostToolUse', lang: 'ts' }, { json: true });
    expect(output).toEqual({
      out: [],
      json: [
        {
          path: inRoot('.cline', 'hooks', 'PostToolUse.ts'),
          event: 'PostToolUse',
          lang: 'ts',
          id: 'cline:workspace-cline:PostToolUse.ts',
          trusted: true,
          try: `echo '{"durationMs":6000}' | hookline hooks fire PostToolUse --facts - --cwd '${workspace.root}'`,
        },
      ],
      notes: [],
    });
  });

  it.each(FILE_HOOK_NAMES)('makes %s in every language', async (event) => {
    for (const lang of SCRIPT_LANGUAGE_NAMES) await make({ event, lang, force: true });
    expect(await statesOf(workspace)).toEqual({
      [`cline:workspace:${event}`]: 'ready',
      [`cline:workspace-cline:${event}.ts`]: 'ready',
    });
  });

  it('takes the name in any case, and the name that the SDK has for it', async () => {
    await make({ event: 'pretooluse', lang: 'node' });
    await make({ event: 'agent_end', lang: 'node' });
    expect(existsSync(inRoot(HOOKS, 'PreToolUse'))).toBe(true);
    expect(existsSync(inRoot(HOOKS, 'TaskComplete'))).toBe(true);
  });

  it('works where hooks are switched off, and still sees existing files', async () => {
    await make({ event: 'TaskStart', lang: 'node' }, { hooks: false });
    vi.stubEnv('HOOKLINE_HOOKS', 'off');
    expect((await refusal({ event: 'TaskStart', lang: 'node' })).code).toBe('HOOK_EXISTS');
  });
});

describe('hooks that cannot be made', () => {
  it('suggests a similar event', async () => {
    expect(await refusal({ event: 'PreToolUs' })).toEqual({
      code: 'EVENT_UNKNOWN',
      message: 'event "PreToolUs" not found',
      hint: 'Did you mean PreToolUse?',
    });
  });

  it('lists the events when no name is similar, or when Cline has no file for the event', async () => {
    const hint = `Cline has hook files for: ${FILE_HOOK_NAMES.join(', ')}.`;
    expect(await refusal({ event: 'whatever-else' })).toEqual({
      code: 'EVENT_UNKNOWN',
      message: 'event "whatever-else" not found',
      hint,
    });
    expect(await refusal({ event: 'stop' })).toEqual({
      code: 'EVENT_UNKNOWN',
      message: 'Cline has no hook file named Stop',
      hint,
    });
  });

  it('names the files that run at an event of another name', async () => {
    expect(await refusal({ event: 'RunEnd' })).toEqual({
      code: 'EVENT_UNKNOWN',
      message: 'Cline has no hook file named RunEnd',
      hint: 'Cline’s hooks for this event: TaskCancel, TaskError.',
    });
  });

  it('refuses another dialect and another language', async () => {
    expect(await refusal({ event: 'PreToolUse', dialect: 'cursor' })).toEqual({
      code: 'USAGE_INVALID',
      message: '--dialect should be one of cline, claude, plugin, found "cursor"',
      hint: 'Use --dialect cline, --dialect claude or --dialect plugin; the default is cline.',
    });
    expect(await refusal({})).toEqual({
      code: 'USAGE_INVALID',
      message: 'missing event',
      hint: 'For example: `hookline hooks new PreToolUse`. Only --dialect plugin needs no event.',
    });
    expect(await refusal({ event: 'PreToolUse', matcher: 'Bash' })).toEqual({
      code: 'USAGE_INVALID',
      message: 'hook files of Cline have no matcher: each runs at every event of its name',
      hint: 'Omit --matcher, or use --dialect claude.',
    });
    expect(await refusal({ event: 'PreToolUse', lang: 'perl' })).toEqual({
      code: 'USAGE_INVALID',
      message: '--lang should be one of bash, python, node, ts, found "perl"',
      hint: 'Omit it for bash, or for node where bash or jq is missing.',
    });
  });

  it('says what to do when .clinerules is a file', async () => {
    write(inRoot('.clinerules'), 'be nice\n');
    const { code, hint } = await refusal({ event: 'PreToolUse', lang: 'node' });
    expect(code).toBe('CONFIG_UNWRITABLE');
    expect(hint).toContain('.clinerules as a file can become .clinerules/rules.md');
    expect(readFileSync(inRoot('.clinerules'), 'utf8')).toBe('be nice\n');
  });

  it('does not write through a link that leads out of the workspace', async () => {
    const outside = path.join(workspace.home, 'outside');
    mkdirSync(outside);
    symlinkSync(outside, inRoot('.clinerules'));
    symlinkSync(path.join(workspace.home, 'nothing-yet'), inRoot('.cline'));
    for (const lang of ['node', 'ts']) {
      const { code, message } = await refusal({ event: 'PreToolUse', lang, force: true });
      expect({ code, isSaid: message.includes('a link leads to') }).toEqual({
        code: 'CONFIG_UNWRITABLE',
        isSaid: true,
      });
    }
    expect(existsSync(path.join(outside, 'hooks'))).toBe(false);
    expect(existsSync(path.join(workspace.home, 'nothing-yet'))).toBe(false);
  });
});

describe('the language, when none is named', () => {
  it.skipIf(!hasPrograms(['bash', 'jq']))(
    'is bash where bash and jq are [needs bash and jq]',
    async () => {
      const { json } = await make({ event: 'TaskStart' }, { json: true });
      expect(json).toEqual([expect.objectContaining({ lang: 'bash' })]);
    },
  );

  it.skipIf(!hasPrograms(['bash']))('is node where jq is missing [needs bash]', async () => {
    const programs = path.join(workspace.home, 'bin');
    mkdirSync(programs);
    symlinkSync(programPath('bash'), path.join(programs, 'bash'));
    vi.stubEnv('PATH', programs);
    const { json, notes } = await make({ event: 'TaskStart' }, { json: true });
    expect(json).toEqual([expect.objectContaining({ lang: 'node', trusted: true })]);
    expect(notes).toEqual([]);
  });

  it('is used with a note on its missing programs when it was named all the same', async () => {
    vi.stubEnv('PATH', workspace.home);
    const { notes } = await make({ event: 'TaskStart', lang: 'bash' });
    expect(notes).toEqual([
      'note: bash is not on the PATH, and the hook needs it',
      'note: jq is not on the PATH, and the hook needs it',
    ]);
  });
});

describe('the directory of a new hook', () => {
  it('is the home directory with --global, where it needs no trust', async () => {
    const classic = await make({ event: 'TaskStart', lang: 'node', global: true }, { json: true });
    const modern = await make({ event: 'TaskStart', lang: 'ts', global: true });
    const file = path.join(workspace.home, 'Documents', 'Cline', 'Hooks', 'TaskStart');
    expect(classic.json).toEqual([
      expect.objectContaining({ path: file, id: 'cline:global:TaskStart', trusted: true }),
    ]);
    expect(modern.out[0]).toContain(path.join(workspace.home, '.cline', 'hooks', 'TaskStart.ts'));
    expect(modern.out[0]).not.toContain('hookline trust');
    expect(await statesOf(workspace)).toEqual({
      'cline:global:TaskStart': 'ready',
      'cline:home:TaskStart.ts': 'ready',
    });
  });

  it('follows the directory that Cline was moved to', async () => {
    const moved = path.join(workspace.home, 'moved');
    vi.stubEnv('CLINE_DIR', moved);
    const { json } = await make({ event: 'TaskStart', lang: 'ts', global: true }, { json: true });
    expect(json).toEqual([
      expect.objectContaining({ path: path.join(moved, 'hooks', 'TaskStart.ts') }),
    ]);
  });

  it('is the directory that a link inside the workspace leads to', async () => {
    mkdirSync(inRoot('.clinerules', 'hooks'), { recursive: true });
    mkdirSync(inRoot('.cline'));
    symlinkSync(inRoot('.clinerules', 'hooks'), inRoot('.cline', 'hooks'));
    const { json } = await make({ event: 'TaskStart', lang: 'ts' }, { json: true });
    expect(json).toEqual([
      expect.objectContaining({ path: inRoot(HOOKS, 'TaskStart.ts'), trusted: true }),
    ]);
  });
});

describe('a hook that exists already', () => {
  it.each(['PreToolUse', 'PreToolUse.py', 'pretooluse.sh'])('is kept: %s', async (name) => {
    write(inRoot(HOOKS, name), SIBLING, 0o755);
    expect(await refusal({ event: 'PreToolUse', lang: 'node' })).toEqual({
      code: 'HOOK_EXISTS',
      message: `a hook for PreToolUse already exists: ${inRoot(HOOKS, name)}`,
      hint: 'Edit it, or write the new one anyway with --force.',
    });
    expect(readFileSync(inRoot(HOOKS, name), 'utf8')).toBe(SIBLING);
  });

  it('does not stand in the way of another event or another directory', async () => {
    write(inRoot(HOOKS, 'PreToolUse'), SIBLING, 0o755);
    await make({ event: 'PostToolUse', lang: 'node' });
    await make({ event: 'PreToolUse', lang: 'ts' });
    expect(readFileSync(inRoot(HOOKS, 'PreToolUse'), 'utf8')).toBe(SIBLING);
  });

  it('is replaced with --force, and only the file of the same name', async () => {
    write(inRoot(HOOKS, 'PreToolUse'), SIBLING);
    write(inRoot(HOOKS, 'PreToolUse.js'), SIBLING);
    const { notes } = await make({ event: 'PreToolUse', lang: 'node', force: true });
    expect(notes).toEqual([
      `note: ${inRoot(HOOKS, 'PreToolUse.js')} also exists and runs at the same event`,
    ]);
    expect(readFileSync(inRoot(HOOKS, 'PreToolUse'), 'utf8')).toBe(
      HOOK_LANGUAGES.node.write('PreToolUse'),
    );
    expect(readFileSync(inRoot(HOOKS, 'PreToolUse.js'), 'utf8')).toBe(SIBLING);
    expect(await statesOf(workspace)).toEqual({
      'cline:workspace:PreToolUse': 'ready',
      'cline:workspace:PreToolUse.js': 'untrusted',
    });
  });

  it('is replaced itself when it is a link, not what the link leads to', async () => {
    const precious = path.join(workspace.home, 'precious');
    write(precious, 'mine\n');
    mkdirSync(inRoot(HOOKS), { recursive: true });
    symlinkSync(precious, inRoot(HOOKS, 'PreToolUse'));
    await make({ event: 'PreToolUse', lang: 'node', force: true });
    expect(readFileSync(precious, 'utf8')).toBe('mine\n');
    expect(lstatSync(inRoot(HOOKS, 'PreToolUse')).isSymbolicLink()).toBe(false);
  });
});

describe('trust', () => {
  it('stays with the neighbours that had it, and extends to no other', async () => {
    write(inRoot(HOOKS, 'PostToolUse'), SIBLING, 0o755);
    write(inRoot(HOOKS, 'TaskCancel'), SIBLING, 0o755);
    await trustWorkspaceHooks(workspace, ['cline:workspace:PostToolUse']);
    const { notes } = await make({ event: 'PreToolUse', lang: 'node' });
    expect(notes).toEqual([]);
    expect(await statesOf(workspace)).toEqual({
      'cline:workspace:PostToolUse': 'ready',
      'cline:workspace:PreToolUse': 'ready',
      'cline:workspace:TaskCancel': 'untrusted',
    });
  });

  it('does not return to a neighbour that was modified', async () => {
    write(inRoot(HOOKS, 'PostToolUse'), SIBLING, 0o755);
    await trustWorkspaceHooks(workspace);
    write(inRoot(HOOKS, 'PostToolUse'), `${SIBLING}// changed\n`, 0o755);
    await make({ event: 'PreToolUse', lang: 'node' });
    expect(await statesOf(workspace)).toEqual({
      'cline:workspace:PostToolUse': 'modified',
      'cline:workspace:PreToolUse': 'ready',
    });
  });

  it('is not given inside an agent session, where no hook is written either', async () => {
    write(inRoot(HOOKS, 'PostToolUse'), SIBLING, 0o755);
    await trustWorkspaceHooks(workspace);
    vi.stubEnv('HOOKLINE_SESSION', 'a session');
    await expect(make({ event: 'PreToolUse', lang: 'node' })).rejects.toThrow(
      expect.objectContaining({
        code: 'TRUST_INSIDE_AGENT',
        message:
          '`hookline hooks new` cannot run inside an agent session or a hook: HOOKLINE_SESSION is set',
      }),
    );
    expect(await statesOf(workspace)).toEqual({ 'cline:workspace:PostToolUse': 'ready' });
  });

  it('is not given where the record cannot be written, with a note', async () => {
    write(path.join(workspace.home, 'file'), '');
    vi.stubEnv('HOOKLINE_HOME', path.join(workspace.home, 'file', 'state'));
    const { json, notes } = await make({ event: 'PreToolUse', lang: 'node' }, { json: true });
    expect(json).toEqual([expect.objectContaining({ trusted: false })]);
    expect(notes.filter((note) => note.startsWith('note: not trusted'))).toEqual([
      expect.stringMatching(/^note: not trusted: cline:workspace:PreToolUse: .*trust\.json/u),
    ]);
    expect(existsSync(inRoot(HOOKS, 'PreToolUse'))).toBe(true);
  });
});
