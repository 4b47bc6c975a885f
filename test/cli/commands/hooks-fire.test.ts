import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonOf, runHookline } from '../hookline.ts';
import {
  answering,
  at,
  createTempWorkspace,
  GLOBAL_HOOKS,
  hasProgram,
  HOOKS,
  nodeHook,
  PRE_TOOL_USE,
  trust,
  write,
} from '../temp-workspace.ts';

const WRITE_JS = ['--tool', 'write_to_file', '--input', '{"path":"a.js","content":"x"}'];
const WRITE_TS = ['--tool', 'write_to_file', '--input', '{"path":"a.ts","content":"x"}'];

const TYPESCRIPT_ONLY = `#!/usr/bin/env bash
input=$(cat)
tool_name=$(echo "$input" | jq -r '.preToolUse.toolName')
path=$(echo "$input" | jq -r '.preToolUse.parameters.path // ""')

if [[ "$tool_name" == "write_to_file" && "$path" == *.js ]]; then
  cat <<EOF
{
  "cancel": true,
  "errorMessage": "Cannot create .js files in TypeScript project",
  "contextModification": "Use .ts/.tsx extensions only"
}
EOF
  exit 0
fi

echo '{"cancel": false}'
`;

const hasJq = hasProgram('bash') && hasProgram('jq');

describe.skipIf(!hasJq)('the TypeScript-only hook (skipped without bash and jq)', () => {
  it('denies a.js with its message, and lets a.ts pass', async () => {
    const workspace = createTempWorkspace({ [`${HOOKS}/PreToolUse`]: TYPESCRIPT_ONLY });
    trust(workspace);
    const [denied, passed] = await Promise.all([
      runHookline(['hooks', 'fire', 'PreToolUse', ...WRITE_JS, '--json'], at(workspace)),
      runHookline(['hooks', 'fire', 'PreToolUse', ...WRITE_TS, '--json'], at(workspace)),
    ]);
    expect(denied.code).toBe(1);
    expect(jsonOf(denied)).toMatchObject({
      event: 'PreToolUse',
      effect: 'deny',
      reasons: [{ hook: PRE_TOOL_USE, text: 'Cannot create .js files in TypeScript project' }],
      context: [{ hook: PRE_TOOL_USE, text: 'Use .ts/.tsx extensions only' }],
      outcomes: [{ hook: PRE_TOOL_USE, status: 'decided', effect: 'deny', exitCode: 0 }],
      skipped: [],
    });
    expect(passed.code).toBe(0);
    expect(jsonOf(passed)).toMatchObject({ effect: 'pass', reasons: [], context: [] });
  });
});

describe('hooks fire', () => {
  it('prints a verdict for users and one for programs', async () => {
    const workspace = createTempWorkspace({
      [`${HOOKS}/PreToolUse`]: answering({
        cancel: true,
        errorMessage: 'first line\nsecond line',
        contextModification: 'try again',
      }),
    });
    trust(workspace);
    const [readable, json] = await Promise.all([
      runHookline(['hooks', 'fire', 'PreToolUse'], at(workspace)),
      runHookline(['hooks', 'fire', 'PreToolUse', '--json'], at(workspace)),
    ]);
    expect({ ...readable, stdout: readable.stdout.replaceAll(/[\d.]+ ms/g, '1 ms') }).toEqual({
      code: 1,
      stderr: '',
      stdout: [
        'PreToolUse: deny (1 hook run)',
        '  (cline:workspace:PreToolUse)',
        '    first line',
        '    second line',
        '  context for the model: try again (cline:workspace:PreToolUse)',
        '  ✓ cline:workspace:PreToolUse: deny 1 ms',
        '',
      ].join('\n'),
    });
    expect(jsonOf(json)).toEqual({
      event: 'PreToolUse',
      effect: 'deny',
      stop: null,
      reasons: [{ hook: PRE_TOOL_USE, text: 'first line\nsecond line' }],
      input: null,
      output: null,
      changes: {},
      context: [{ hook: PRE_TOOL_USE, text: 'try again' }],
      messages: [],
      outcomes: [
        {
          hook: PRE_TOOL_USE,
          dialect: 'cline',
          source: `${HOOKS}/PreToolUse`,
          status: 'decided',
          effect: 'deny',
          pass: 1,
          part: null,
          exitCode: 0,
          durationMs: expect.any(Number),
          failure: null,
          onFailure: 'open',
          notes: [],
          stdout: expect.stringContaining('"cancel":true'),
          stderr: '',
        },
      ],
      skipped: [],
      slowest: { hook: PRE_TOOL_USE, durationMs: expect.any(Number) },
      late: [],
    });
  });

  it('exits with 3 under --strict when a hook fails, and with 0 without it', async () => {
    const workspace = createTempWorkspace();
    write(workspace.home, `${GLOBAL_HOOKS}/PreToolUse`, '#!/bin/sh\necho broken >&2\nexit 7\n');
    const [strict, lenient] = await Promise.all([
      runHookline(['hooks', 'fire', 'PreToolUse', '--strict'], at(workspace)),
      runHookline(['hooks', 'fire', 'PreToolUse'], at(workspace)),
    ]);
    expect([strict.code, lenient.code]).toEqual([3, 0]);
    expect(lenient.stdout).toContain('✗ cline:global:PreToolUse: failed (ignored: fail-open)');
    expect(lenient.stdout).toContain(
      '      exit: exited with code 7 and gave no answer: broken\n      Exit with 0 and print one JSON object: {"cancel": true, "errorMessage": "why"} to refuse, {} to agree.\n',
    );
    expect(lenient.stderr).toBe('');
  });

  it('prints a failure in as many lines as it has', async () => {
    const workspace = createTempWorkspace();
    const command = write(
      workspace.home,
      'fail.sh',
      '#!/bin/sh\nprintf "a\\n\\033[2Jb" >&2\nexit 1\n',
    );
    const hooks = [{ type: 'command', command, onFailure: 'block' }];
    const settings = { hooks: { PreToolUse: [{ hooks }] } };
    write(workspace.home, '.claude/settings.json', JSON.stringify(settings));
    const { stdout } = await runHookline(['hooks', 'fire', 'PreToolUse'], at(workspace));
    expect(stdout.split('\n').slice(1)).toEqual([
      '  (claude:user:PreToolUse:fail.sh)',
      expect.stringMatching(/^ {4}\[.*\]: failed; blocking because onFailure is "block"$/),
      '    a',
      String.raw`    \u{1b}[2Jb`,
      expect.stringMatching(
        /^ {2}✗ claude:user:PreToolUse:fail\.sh: failed \(blocks: fail-closed\)/,
      ),
      expect.stringMatching(/^ {6}Exit with 0 to agree/),
      '',
    ]);
  });

  it('combines the hooks of the user and of the workspace', async () => {
    const workspace = { cancel: true, errorMessage: 'workspace', contextModification: 'one' };
    const otherWorkspace = createTempWorkspace({ [`${HOOKS}/PreToolUse`]: answering(workspace) });
    const own = { cancel: false, contextModification: 'two' };
    write(otherWorkspace.home, `${GLOBAL_HOOKS}/PreToolUse`, answering(own));
    trust(otherWorkspace);
    const verdict = jsonOf(
      await runHookline(['hooks', 'fire', 'PreToolUse', '--json'], at(otherWorkspace)),
    );
    expect(verdict).toMatchObject({
      effect: 'deny',
      reasons: [{ hook: PRE_TOOL_USE, text: 'workspace' }],
      context: [
        { hook: 'cline:global:PreToolUse', text: 'two' },
        { hook: PRE_TOOL_USE, text: 'one' },
      ],
    });
  });

  it('gives the hook what the command line describes, under any name of the event', async () => {
    const workspace = createTempWorkspace();
    const payloadFile = path.join(workspace.directory, 'seen.json');
    write(
      workspace.home,
      `${GLOBAL_HOOKS}/PostToolUse`,
      nodeHook(
        `require('node:fs').writeFileSync(${JSON.stringify(payloadFile)}, JSON.stringify(input));`,
      ),
    );
    const call = ['--tool', 'Bash', '--input', '{"command":"ls"}'];
    const end = ['--result', 'not found', '--success', 'false'];
    await runHookline(['hooks', 'fire', 'tool_result', ...call, ...end], at(workspace));
    expect(JSON.parse(readFileSync(payloadFile, 'utf8'))).toMatchObject({
      hookName: 'PostToolUse',
      workspaceRoots: [workspace.repo],
      postToolUse: {
        toolName: 'execute_command',
        parameters: { command: 'ls' },
        result: 'not found',
        success: false,
      },
    });
  });

  it('fires a recorded payload from stdin again', async () => {
    const workspace = createTempWorkspace();
    write(
      workspace.home,
      `${GLOBAL_HOOKS}/UserPromptSubmit`,
      nodeHook('console.log(JSON.stringify({ context: input.userPromptSubmit.prompt }));'),
    );
    const payload = { hookName: 'UserPromptSubmit', userPromptSubmit: { prompt: 'said before' } };
    const result = await runHookline(
      ['hooks', 'fire', '--payload', '-', '--as', 'cline', '--json'],
      at(workspace, { stdin: JSON.stringify(payload) }),
    );
    expect(jsonOf(result).context).toEqual([
      { hook: 'cline:global:UserPromptSubmit', text: 'said before' },
    ]);
  });

  it('obeys the variables for time and context, and says what they cut', async () => {
    const workspace = createTempWorkspace();
    write(workspace.home, `${GLOBAL_HOOKS}/PreToolUse`, '#!/bin/sh\nexec sleep 60\n');
    write(
      workspace.home,
      `${GLOBAL_HOOKS}/UserPromptSubmit`,
      answering({ context: 'x'.repeat(99) }),
    );
    const env = { HOOK_EXECUTION_TIMEOUT_MS: '300', MAX_CONTEXT_MODIFICATION_SIZE: '10' };
    const [tool, prompt] = await Promise.all([
      runHookline(['hooks', 'fire', 'PreToolUse', '--json'], at(workspace, { env })),
      runHookline(
        ['hooks', 'fire', 'UserPromptSubmit', '--json'],
        at(workspace, { env: { MAX_CONTEXT_MODIFICATION_SIZE: '10' } }),
      ),
    ]);
    expect(jsonOf(tool).outcomes[0].failure).toEqual({
      kind: 'timeout',
      message: 'did not finish within 300 ms and was ended with everything it started',
      hint: 'Let it answer sooner, or set "hooks.timeoutMs".',
    });
    expect(jsonOf(prompt).outcomes[0].notes).toEqual(['context cut at 10 characters; it had 99']);
  });

  it('notes a variable that is no number and keeps the default', async () => {
    const workspace = createTempWorkspace();
    const env = { HOOK_EXECUTION_TIMEOUT_MS: 'soon' };
    const { code, stderr } = await runHookline(['hooks', 'list'], at(workspace, { env }));
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        'note: the environment variable HOOK_EXECUTION_TIMEOUT_MS should be a number above 0, found "soon"\n',
    });
  });

  it('leaves a trace that only the user can read, and that is shown without its secrets', async () => {
    const workspace = createTempWorkspace();
    write(workspace.home, `${GLOBAL_HOOKS}/PreToolUse`, answering({ context: 'done' }));
    const secret = `sk-ant-api03-${'a1B2'.repeat(24)}`;
    await runHookline(
      ['hooks', 'fire', 'PreToolUse', '--tool', 'Bash', '--input', `{"command":"K=${secret} x"}`],
      at(workspace),
    );
    const file = path.join(workspace.home, '.hookline/trace/trace.jsonl');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    const [shown, raw] = [
      await runHookline(['trace', 'export'], at(workspace)),
      await runHookline(['trace', 'export', '--raw'], at(workspace)),
    ];
    expect(JSON.parse(shown.stdout)).toMatchObject({ agent: 'hookline', event: 'PreToolUse' });
    expect(shown.stdout).not.toContain('a1B2a1B2');
    expect(raw.stdout).toContain(secret);
  });
});

describe('a tool that is probably misspelt', () => {
  it.each(['fire', 'explain'])('is reported by hooks %s', async (command) => {
    const args = ['hooks', command, 'PreToolUse', '--tool', 'Writ'];
    const { code, stderr } = await runHookline(args, at(createTempWorkspace()));
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'note: Hookline has no tool "Writ"; did you mean "Write"?\n',
    });
  });

  it('is not reported when it may be a plugin’s or a server’s', async () => {
    const args = (tool: string) => ['hooks', 'fire', 'PreToolUse', '--tool', tool];
    const tools = ['count_words', 'mcp__notes__read', 'WebSearch'];
    const runs = await Promise.all(
      tools.map((tool) => runHookline(args(tool), at(createTempWorkspace()))),
    );
    expect(runs.map(({ stderr }) => stderr)).toEqual(['', '', '']);
  });
});

describe('hooks explain', () => {
  it('says what would run and what not, and runs nothing', async () => {
    const workspace = createTempWorkspace({
      [`${HOOKS}/PreToolUse`]: '#!/bin/sh\n: > "$HOME/ran"\n',
    });
    write(workspace.home, `${GLOBAL_HOOKS}/PreToolUse`, '#!/bin/sh\n: > "$HOME/ran"\n');
    const [readable, json] = await Promise.all([
      runHookline(['hooks', 'explain', 'PreToolUse', ...WRITE_JS], at(workspace)),
      runHookline(['hooks', 'explain', 'PreToolUse', ...WRITE_JS, '--json'], at(workspace)),
    ]);
    expect(readable.code).toBe(0);
    expect(readable.stdout).toContain(
      'would run cline:global:PreToolUse at once · sees write_to_file {"path":"a.js","content":"x"}',
    );
    expect(readable.stdout).toContain(`would not ${PRE_TOOL_USE}: untrusted`);
    expect(jsonOf(json)).toMatchObject({
      event: 'PreToolUse',
      refusal: 'the call is denied',
      runs: [{ hook: 'cline:global:PreToolUse', times: 1, how: 'at once' }],
      skipped: [{ hook: PRE_TOOL_USE, why: 'untrusted: it was never trusted here' }],
    });
    expect(existsSync(path.join(workspace.home, 'ran'))).toBe(false);
  });
});

describe('hooks list', () => {
  it('lists Cline hooks and plugins above the current directory that belong to no workspace root', async () => {
    const workspace = createTempWorkspace({
      [`pkg/${HOOKS}/PreToolUse`]: answering({ cancel: true }),
      'pkg/.cline/plugins/guard.ts': 'export default { name: "guard" };',
    });
    const inPackage = at(workspace, { cwd: path.join(workspace.repo, 'pkg') });
    const [listed, trusted, asRoot] = await Promise.all([
      runHookline(['hooks', 'list', '--json'], inPackage),
      runHookline(['trust'], inPackage),
      runHookline(['hooks', 'list', '--json', '--root', '.'], inPackage),
    ]);
    const why = `is not read: ${workspace.repo}/pkg is not a workspace root (${workspace.repo} is); use --root . to make it one`;
    expect(jsonOf(listed).ignored).toEqual(
      [HOOKS, '.cline/plugins'].map((name) => ({
        path: path.join(workspace.repo, 'pkg', name),
        why,
      })),
    );
    expect(trusted.stdout).toContain('Run `hookline hooks list` for ignored files.');
    expect(jsonOf(asRoot)).toMatchObject({ ignored: [] });
  });

  it('reports every file in a hook directory that is not a hook', async () => {
    const workspace = createTempWorkspace({
      [`${HOOKS}/PreTolUse`]: '',
      [`${HOOKS}/README.md`]: '',
      [`${HOOKS}/PreToolUse.exe`]: '',
    });
    mkdirSync(path.join(workspace.repo, HOOKS, 'PostToolUse'));
    const [readable, json] = await Promise.all([
      runHookline(['hooks', 'list'], at(workspace)),
      runHookline(['hooks', 'list', '--json'], at(workspace)),
    ]);
    const ignored = [
      { path: 'PostToolUse', why: 'is a directory' },
      {
        path: 'PreTolUse',
        why: 'its name is not the name of a hook; did you mean PreToolUse?',
        mayHideHook: true,
      },
      { path: 'PreToolUse.exe', why: '.exe files run only on Windows' },
      { path: 'README.md', why: 'its name is not the name of a hook' },
    ];
    expect(jsonOf(json)).toEqual({
      roots: [workspace.repo],
      enabled: true,
      hooks: [],
      ignored: ignored.map((each) => ({
        ...each,
        path: path.join(workspace.repo, HOOKS, each.path),
      })),
      problems: [],
    });
    for (const { why } of ignored) expect(readable.stdout).toContain(why);
  });
});
