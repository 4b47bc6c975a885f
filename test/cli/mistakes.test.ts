import { describe, expect, it } from 'vitest';
import { jsonOf, runHookline } from './hookline.ts';
import { at, createTempWorkspace, HOOKS, write } from './temp-workspace.ts';

const FIRE = ['hooks', 'fire', 'PreToolUse', '--tool', 'Bash', '--input', '{"command":"ls"}'];

const ENTRY = '[{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "true" }] }]';

describe('a settings file that is not JSON', () => {
  it.each([
    ['a quote after a key', '"matcher":', '"matcher:', 'column 31 (missing quote after matcher)'],
    ['a quote before a key', '"matcher"', 'matcher"', 'column 20 (missing quote before matcher)'],
    ['quotes', '"matcher"', 'matcher', 'column 20 (missing quotes around matcher)'],
    ['a comma', '"Bash",', '"Bash"', 'column 38 (missing comma before this)'],
    ['a colon', '"matcher":', '"matcher"', 'column 30 (missing colon after the key)'],
    ['double quotes', '"Bash"', "'Bash'", 'column 31 (single quotes; JSON has double quotes)'],
    ['a bracket', '}] }]', '}] }', 'column 1 (] expected instead of })'],
  ])('without %s is named with line, column and a guess', async (_name, right, wrong, why) => {
    const workspace = createTempWorkspace();
    const text = `{ "hooks": {\n  "PreToolUse": ${ENTRY}\n} }`;
    write(workspace.repo, '.claude/settings.json', text.replace(right, wrong));
    const { stdout, stderr } = await runHookline(['hooks', 'list', '--json'], at(workspace));
    expect(stderr).toBe('');
    const { hooks, ignored } = JSON.parse(stdout);
    expect(hooks).toEqual([]);
    expect(ignored).toEqual([expect.objectContaining({ why: expect.stringContaining(why) })]);
    expect(ignored[0].why).toMatch(/^line [23]: /);
  });

  it('fails at a gate, is noted once by a run, and counts for no hook', async () => {
    const workspace = createTempWorkspace();
    write(workspace.repo, '.claude/settings.json', '{ "hooks": { "matcher: "Bash" } }');
    write(
      workspace.directory,
      'turns.json',
      '[{"tools":[{"name":"Bash","input":{"command":"true"}}]},{"text":"Done."}]',
    );
    expect(jsonOf(await runHookline([...FIRE, '--json'], at(workspace))).outcomes).toMatchObject([
      { status: 'failed', hook: 'claude:project:settings.json:line-1' },
    ]);
    const { stderr } = await runHookline(
      ['run', '--script', '../turns.json', '--allow', 'Bash', 'go'],
      at(workspace),
    );
    expect(stderr.match(/missing quote after matcher/g)).toHaveLength(1);
    const { stdout } = await runHookline(['doctor'], at(workspace));
    expect(stdout).toContain('0 hooks found');
  });
});

it.each([
  ['--script', ['run', '--script', 'broken.json', 'go']],
  ['--facts', ['hooks', 'fire', 'PreToolUse', '--facts', 'broken.json']],
  ['--lock', ['hooks', 'list', '--lock', 'broken.json']],
])('a file of %s that is not JSON is explained the same way', async (_flag, args) => {
  const workspace = createTempWorkspace({ 'broken.json': '[\n  { "text": "a" }\n  { }\n]' });
  const { code, stderr } = await runHookline(args, at(workspace));
  expect(code).toBe(2);
  expect(stderr).toContain('line 3, column 3: missing comma before this');
});

describe('a mistyped key of an answer', () => {
  it.each([
    ['cline', `${HOOKS}/PreToolUse`, '{"cancle": true}', 'did you mean "cancel"?'],
    ['claude', null, '{"decison": "block"}', 'did you mean decision?'],
  ])('of a %s hook is a warning in fire and run', async (_dialect, file, answer, note) => {
    const workspace = createTempWorkspace();
    const script = `#!/bin/sh\necho '${answer}'\n`;
    if (file === null) {
      const hook = write(workspace.home, 'hook.sh', script);
      const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command: hook }] }] };
      write(workspace.home, '.claude/settings.json', JSON.stringify({ hooks }));
    } else write(workspace.home, '.cline/hooks/PreToolUse', script);
    expect((await runHookline(FIRE, at(workspace))).stdout).toContain(note);
    write(
      workspace.directory,
      'turns.json',
      '[{"tools":[{"name":"Bash","input":{"command":"true"}}]},{"text":"Done."}]',
    );
    const run = await runHookline(
      ['run', '--script', '../turns.json', '--allow', 'Bash', 'go'],
      at(workspace),
    );
    expect(run.stderr).toContain(note);
  });
});

it('a denial names its hook', async () => {
  const workspace = createTempWorkspace();
  write(
    workspace.home,
    '.cline/hooks/PreToolUse',
    '#!/bin/sh\necho \'{"cancel": true, "errorMessage": "not here"}\'\n',
  );
  write(
    workspace.directory,
    'turns.json',
    '[{"tools":[{"name":"Bash","input":{"command":"true"}}]},{"text":"Done."}]',
  );
  const { stderr } = await runHookline(['run', '--script', '../turns.json', 'go'], at(workspace));
  expect(stderr).toMatch(/^denied: Bash: .*not here \(cline:home:PreToolUse\)\n$/);
});
