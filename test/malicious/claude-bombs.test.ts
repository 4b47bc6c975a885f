import { closeSync, ftruncateSync, openSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../src/hooks/decision.ts';
import { type HooklineResult, jsonOf, runHookline } from '../cli/hookline.ts';
import { at, createTempWorkspace, type TempWorkspace, write } from '../cli/temp-workspace.ts';

const SETTINGS = '.claude/settings.json';
const MEBI = 1024 * 1024;

/** The user's guard, which refuses every call. */
function guard(
  workspace: TempWorkspace,
  group: { readonly matcher?: string; readonly if?: string },
): void {
  const { matcher, ...rest } = group;
  const handler = { type: 'command', command: 'echo no >&2; exit 2', ...rest };
  const groups = [{ ...(matcher === undefined ? {} : { matcher }), hooks: [handler] }];
  write(workspace.home, SETTINGS, JSON.stringify({ hooks: { PreToolUse: groups } }));
}

async function fire(
  workspace: TempWorkspace,
  tool: { name: string; input: object },
): Promise<HooklineResult> {
  const facts = JSON.stringify({ tool: { callId: '1', ...tool } });
  const file = write(workspace.directory, 'facts.json', facts);
  return runHookline(
    ['hooks', 'fire', 'PreToolUse', '--facts', file, '--json', '--strict'],
    at(workspace),
  );
}

/** Refused, or failed with a report: never passed without one. */
function expectNoSilence(result: HooklineResult): void {
  const { outcomes }: Verdict = jsonOf(result);
  expect(outcomes).toHaveLength(1);
  expect([1, 3]).toContain(result.code);
}

const names = (count: number): string =>
  Array.from({ length: count }, (_each, index) => `Tool${index}`).join('|');

describe('a matcher that is a bomb', () => {
  it.each([
    ['(a+)+$', 'a'.repeat(5000)],
    ['^(?:a|a)*$', 'a'.repeat(5000)],
    ['^(?=(a+)+$)', 'a'.repeat(5000)],
    [String.raw`^(a|aa)+\1?$`, 'a'.repeat(5000)],
    ['(?<!b)(?:.*.*)*x|Edit', 'Edit'],
    [`${names(100_000)}|Edit`, 'Edit'],
    [`${names(100_000)}|Edit$`, 'Edit'],
    [`(?!x)(?:${names(50_000)}|Edit)`, 'Edit'],
    [`${'('.repeat(20_000)}Edit${')'.repeat(20_000)}`, 'Edit'],
    [`${'(?:'.repeat(20_000)}Edit${')?'.repeat(20_000)}`, 'Edit'],
    [`${'(?=E)'.repeat(50_000)}Edit`, 'Edit'],
    [`${'(?:E?)'.repeat(170_000)}dit`, 'Edit'],
    ['(?:(?:(?:a{1,1000}){1,1000}){1,1000}){1,1000}|Edit', 'Edit'],
    ['.*'.repeat(MEBI / 2), 'Edit'],
    ['['.repeat(MEBI), 'Edit'],
  ])('neither hangs nor misses without a report: case %#', async (matcher, name) => {
    const workspace = createTempWorkspace();
    guard(workspace, { matcher });
    expectNoSilence(await fire(workspace, { name, input: { file_path: 'a' } }));
  });

  it('of backtracking does not hang on what it does not match', async () => {
    const workspace = createTempWorkspace();
    guard(workspace, { matcher: '(a+)+$' });
    const result = await fire(workspace, { name: `${'a'.repeat(50_000)}!`, input: {} });
    expect(result.code).toBe(0);
  });

  it('does not hang in great numbers, and the user’s own pattern is still run', async () => {
    const dear = (index: number): string =>
      `(?=x)(?:.*.*.*|a*b*c*d*e*(f|g|h)*){1,9}${index}$|(?:a{1,900})$`;
    const hooks = [{ type: 'command', command: ': > ~/pwned' }];
    const groups = Array.from({ length: 2000 }, (_each, index) => ({
      matcher: dear(index),
      hooks,
    }));
    const workspace = createTempWorkspace({
      [SETTINGS]: JSON.stringify({ hooks: { PreToolUse: groups } }),
    });
    guard(workspace, { matcher: 'Ed(?!x)it' });
    const [fits, misfits] = await Promise.all([
      runHookline(['hooks', 'fire', 'PreToolUse', '--tool', 'Edit', '--json'], at(workspace)),
      runHookline(['hooks', 'fire', 'PreToolUse', '--tool', 'Edxit', '--json'], at(workspace)),
    ]);
    expect([fits.code, misfits.code]).toEqual([1, 0]);
    expect(jsonOf(fits).outcomes).toHaveLength(1);
  });

  it('can be listed', async () => {
    const workspace = createTempWorkspace();
    guard(workspace, { matcher: `(?=(a+)+$)${'x'.repeat(MEBI)}` });
    const { code } = await runHookline(['hooks', 'list'], at(workspace));
    expect(code).toBe(0);
  });
});

describe('a condition that is a bomb', () => {
  const bash = (command: string) => ({ name: 'Bash', input: { command } });

  it.each([
    ['1 MB of words', `${'x '.repeat(MEBI / 2)}; git push`],
    ['substitutions in substitutions', `${'$('.repeat(50_000)}git push${')'.repeat(50_000)}`],
    ['open substitutions', `${'$('.repeat(50_000)}git push`],
    ['back-quotes', `${'`'.repeat(99_999)} git push`],
    ['groups', `${'{ '.repeat(20_000)}git push${'; }'.repeat(20_000)}`],
    ['sub-shells', `${'( '.repeat(30_000)}git push${' )'.repeat(30_000)}`],
    ['here-documents', `${'cat <<E;'.repeat(10_000)}git push`],
    ['arithmetic', `${'$(('.repeat(20_000)}git push`],
    ['quotes in substitutions', `${'"$('.repeat(20_000)}git push`],
    ['braces', `${'{a,'.repeat(20_000)}; git push`],
    ['cases', `${'case x in x) '.repeat(5000)}git push`],
    ['variables', `${'${a:-'.repeat(20_000)}git push`],
  ])('is asked about %s', async (_name, command) => {
    const workspace = createTempWorkspace();
    guard(workspace, { if: 'Bash(git push *)' });
    expectNoSilence(await fire(workspace, bash(`${command} origin`)));
  });

  it.each([
    ['Bash', `Bash(${'*a'.repeat(50_000)}*)`, bash('a'.repeat(100_000))],
    ['Edit', `Edit(${'*a'.repeat(30)}*)`, edit('a'.repeat(200))],
    ['Edit and directories', `Edit(${'**/'.repeat(500)}a*)`, edit(`${'a/'.repeat(300)}ab`)],
    ['Edit and classes', `Edit(${'[a-z]*'.repeat(30)})`, edit('a'.repeat(200))],
    ['1 MB', `Edit(${'x'.repeat(MEBI)},**)`, edit('a')],
  ])('of %s does not hang', async (_name, condition, tool) => {
    const workspace = createTempWorkspace();
    guard(workspace, { if: condition });
    const { code } = await fire(workspace, tool);
    expect([0, 1, 3]).toContain(code);
  });

  it.each([
    `Edit(${'*a'.repeat(30)}b)`,
    `Edit(${'*a'.repeat(30)}/**/${'*a'.repeat(30)}b)`,
    `Edit(${'**/*a'.repeat(12)}b)`,
    `Edit(!(${'a*'.repeat(30)}b))`,
  ])('of a path that almost fits does not hang: case %#', async (condition) => {
    const workspace = createTempWorkspace();
    guard(workspace, { if: condition });
    const { code } = await fire(workspace, edit(`${'a'.repeat(120)}/${'a'.repeat(120)}c`));
    expect([0, 1, 3]).toContain(code);
  });
});

function edit(file: string) {
  const input = { file_path: `src/${file}`, old_string: 'a', new_string: 'b' };
  return { name: 'Edit', input };
}

describe('a settings file that is a bomb', () => {
  const LIST = ['hooks', 'list'];
  const FIRE = ['hooks', 'fire', 'PreToolUse', '--tool', 'Edit', '--strict'];

  async function expectLoud(workspace: TempWorkspace, says: string): Promise<void> {
    const [list, fired] = await Promise.all([
      runHookline(LIST, at(workspace)),
      runHookline(FIRE, at(workspace)),
    ]);
    expect(list.code).toBe(0);
    expect(list.stdout).toContain(says);
    expect(fired.code).toBe(3);
    expect(`${fired.stdout}${fired.stderr}`).toMatch(
      /a guard may be missing|: not read \(|: failed \(/,
    );
  }

  it('of 500 MB is not read', async () => {
    const workspace = createTempWorkspace();
    const file = write(workspace.repo, SETTINGS, '');
    const handle = openSync(file, 'w');
    ftruncateSync(handle, 500 * MEBI);
    closeSync(handle);
    await expectLoud(workspace, 'expected at most 16 MiB of settings, found more');
  });

  it.each(['[', '{"hooks":', '{"hooks":{"PreToolUse":['])(
    'of 100,000 levels is refused: %s',
    async (opening) => {
      const workspace = createTempWorkspace({ [SETTINGS]: opening.repeat(100_000) });
      await expectLoud(workspace, 'expected');
    },
  );

  it('of 100,000 levels that are all closed is refused', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const workspace = createTempWorkspace({ [SETTINGS]: `{"x": ${deep}}` });
    await expectLoud(workspace, 'levels of nesting');
  });

  it('of 15 MB of errors is refused', async () => {
    const workspace = createTempWorkspace({ [SETTINGS]: '} '.repeat((15 * MEBI) / 2) });
    await expectLoud(workspace, 'expected');
  });

  it('leaves the user’s guard alone', async () => {
    const workspace = createTempWorkspace({
      [SETTINGS]: '['.repeat(100_000),
      '.cline/hooks.json': '/*'.repeat(50_000),
    });
    guard(workspace, {});
    const { code } = await runHookline(FIRE, at(workspace));
    expect(code).toBe(1);
  });

  it('of 20,000 hooks is listed and asks for trust', async () => {
    const hooks = Array.from({ length: 20_000 }, (_each, index) => ({
      type: 'command',
      command: `echo ${index} > "$HOME/pwned"`,
    }));
    const workspace = createTempWorkspace({
      [SETTINGS]: JSON.stringify({ hooks: { PreToolUse: [{ hooks }] } }),
    });
    const { code } = await runHookline(FIRE, at(workspace));
    expect(code).toBe(3);
  });
});

describe('a session id that leads elsewhere', () => {
  it('makes no file outside the state directory', async () => {
    const workspace = createTempWorkspace();
    const command = 'cat > "$HOME/seen"; echo "export A=1" > "$CLAUDE_ENV_FILE"; seq 9999';
    const hooks = { SessionStart: [{ hooks: [{ type: 'command', command }] }] };
    write(workspace.home, SETTINGS, JSON.stringify({ hooks }));
    const sessionId = `../../../../../../..${workspace.directory}/escaped`;
    const facts = write(workspace.directory, 'facts.json', JSON.stringify({ sessionId }));
    const result = await runHookline(
      ['hooks', 'fire', 'SessionStart', '--facts', facts, '--json', '--strict'],
      at(workspace),
    );
    expect(result.code).toBe(0);
    const files = filesBelow(workspace.directory).filter(
      (file) => !file.startsWith('home/.hookline/'),
    );
    expect(files).toEqual(['facts.json', `home/${SETTINGS}`, 'home/seen']);
    const rest = filesBelow(path.join(workspace.home, '.hookline')).join('\n');
    expect(rest).toMatch(/^session-env\/[\w-]+\/sessionstart-hook-0\.sh$/m);
    expect(rest).toMatch(/^transcripts\/[\w-]+\/[\w-]+\.jsonl$/m);
    expect(rest).toMatch(/^tool-results\/[\w-]+\/hook-[\w-]+\.txt$/m);
  });
});

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)))
    .toSorted();
}
