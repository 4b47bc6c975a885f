import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { DecodedExchange } from '../../../../src/trace/exchange.ts';
import type { LateOutcome } from '../../../../src/hooks/dispatch-record.ts';
import type { HostOptions } from '../../../../src/host/create-host.ts';
import { createTempWorkspace, hostIn, type TempWorkspace } from '../../../host/temp-workspace.ts';

type Entry = Readonly<Record<string, unknown>>;

/** A workspace whose settings have these handlers for an event. */
function configured(event: string, ...handlers: readonly Entry[]): TempWorkspace {
  const settings = { hooks: { [event]: [{ hooks: handlers }] } };
  return createTempWorkspace({ 'ws/.claude/settings.json': JSON.stringify(settings) });
}

function command(text: string, more: Entry = {}): Entry {
  return { type: 'command', command: text, ...more };
}

const host = (workspace: TempWorkspace, options: HostOptions = {}) =>
  hostIn(workspace, { trust: 'all', ...options });

describe('a command in a shell', () => {
  test('finds its variables, and runs where the session is', async () => {
    const workspace = configured(
      'UserPromptSubmit',
      command('echo "$CLAUDE_PROJECT_DIR|$PWD|$CLAUDECODE|$CLAUDE_CODE_SESSION_ID|$AI_AGENT"'),
    );
    const { engine } = await host(workspace, { moment: { sessionId: 'abc', version: '1.2.3' } });
    const { context } = await engine.dispatch({ name: 'UserPromptSubmit', prompt: 'hi' });
    expect(context[0]?.text.trim()).toBe(
      `${workspace.root}|${workspace.root}|1|abc|hookline_1-2-3_harness`,
    );
  });

  test('does not inherit the host’s own reporting variables', async () => {
    const settings = { hooks: { UserPromptSubmit: [{ hooks: [command('echo "[$OTEL_X]"')] }] } };
    const workspace = createTempWorkspace(
      { 'ws/.claude/settings.json': JSON.stringify(settings) },
      { OTEL_X: 'secret' },
    );
    const { engine } = await host(workspace);
    const { context } = await engine.dispatch({ name: 'UserPromptSubmit', prompt: 'hi' });
    expect(context[0]?.text.trim()).toBe('[]');
  });

  test('runs where the session began when its directory is gone', async () => {
    const workspace = configured('UserPromptSubmit', command('pwd'));
    const { engine } = await host(workspace);
    const missingDirectory = path.join(workspace.root, 'gone');
    const { context } = await engine.dispatch({
      name: 'UserPromptSubmit',
      prompt: '',
      cwd: missingDirectory,
    });
    expect(context[0]?.text.trim()).toBe(workspace.root);
  });

  test('is wrapped as the user wishes', async () => {
    const settings = { hooks: { UserPromptSubmit: [{ hooks: [command('echo it\'s "$X"')] }] } };
    const workspace = createTempWorkspace(
      { 'ws/.claude/settings.json': JSON.stringify(settings) },
      { CLAUDE_CODE_SHELL_PREFIX: 'printf "<%s>"' },
    );
    const { engine } = await host(workspace);
    const { context } = await engine.dispatch({ name: 'UserPromptSubmit', prompt: '' });
    expect(context[0]?.text).toBe('<echo it\'s "$X">');
  });
});

describe('a command without a shell', () => {
  test('gets each argument as it is written, with placeholders filled', async () => {
    const workspace = configured(
      'UserPromptSubmit',
      command('printf', { args: ['%s|', '$HOME', '${CLAUDE_PROJECT_DIR}/a b', "it's"] }),
    );
    const { engine } = await host(workspace);
    const { context } = await engine.dispatch({ name: 'UserPromptSubmit', prompt: '' });
    expect(context[0]?.text).toBe(`$HOME|${workspace.root}/a b|it's|`);
  });

  test('that does not exist is a failure that names it', async () => {
    const { engine } = await host(configured('Stop', command('/no/such/program', { args: [] })));
    const { outcomes } = await engine.dispatch({ name: 'Stop', lastText: '', again: false });
    expect(outcomes).toMatchObject([
      { failure: { kind: 'spawn', message: expect.stringContaining('/no/such/program') } },
    ]);
  });
});

test.each([
  ['${CLAUDE_PLUGIN_ROOT}/x.sh', 'only hooks of a plugin have'],
  ['echo ${user_config.key}', 'only hooks of a plugin have'],
])('a placeholder without a value is not run: %s', async (text, why) => {
  const ownHost = await host(configured('PreToolUse', command(text)));
  expect(ownHost.hooks()).toMatchObject([{ state: 'broken', why: expect.stringContaining(why) }]);
  const tool = { callId: '1', name: 'Bash', input: { command: 'ls' } };
  const { outcomes } = await ownHost.engine.dispatch({ name: 'PreToolUse', tool });
  expect(outcomes).toMatchObject([{ failure: { message: expect.stringContaining(why) } }]);
});

describe('variables that a hook leaves', () => {
  test('reach later commands, exported or not, in the order of the hooks', async () => {
    const workspace = configured(
      'SessionStart',
      command('echo "export A=1 B=one" >> "$CLAUDE_ENV_FILE"'),
      command('echo "B=two" >> "$CLAUDE_ENV_FILE"'),
    );
    const { engine, bashPrelude } = await host(workspace);
    expect(bashPrelude()).toBe('');
    await engine.dispatch({ name: 'SessionStart', source: 'startup' });
    const script = `${bashPrelude()}sh -c 'echo "$A $B"'`;
    expect(execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' })).toBe('1 two\n');
  });

  test('have a file of the state directory, whatever the session is called', async () => {
    const workspace = configured('SessionStart', command('echo "$CLAUDE_ENV_FILE" > seen'));
    const { engine } = await host(workspace, { moment: { sessionId: '../../../evil' } });
    await engine.dispatch({ name: 'SessionStart', source: 'startup' });
    const file = readFileSync(path.join(workspace.root, 'seen'), 'utf8').trim();
    expect(path.dirname(file)).toBe(
      path.join(workspace.home, '.hookline', 'session-env', '---------evil'),
    );
  });

  test('are named in the payload too, as old descriptions require', async () => {
    const workspace = configured('SessionStart', command('cat > payload.json'));
    const { engine } = await host(workspace);
    await engine.dispatch({ name: 'SessionStart', source: 'startup' });
    const payload = JSON.parse(readFileSync(path.join(workspace.root, 'payload.json'), 'utf8'));
    expect(payload.CLAUDE_ENV_FILE).toMatch(/sessionstart-hook-0\.sh$/);
    expect(existsSync(payload.transcript_path)).toBe(true);
  });
});

describe('a hook in the background', () => {
  const SAYS = `printf '%s' '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"done"}}'`;
  const CALL = {
    name: 'PostToolUse',
    tool: { callId: '1', name: 'Bash', input: { command: 'ls' } },
    result: { response: undefined, text: '', success: true },
    durationMs: 1,
  } as const;

  async function fire(handler: Entry, options: HostOptions = {}) {
    const late: LateOutcome[] = [];
    const ownHost = await host(configured('PostToolUse', handler), {
      ...options,
      onLate: (outcome) => late.push(outcome),
    });
    const verdict = await ownHost.engine.dispatch(CALL);
    await ownHost.engine.idle();
    return { verdict, late: late.map(({ outcome }) => outcome) };
  }

  test('is not waited for, and its answer comes late', async () => {
    const { verdict, late } = await fire(command(SAYS, { async: true }));
    expect(verdict.outcomes).toMatchObject([{ status: 'background' }]);
    expect(verdict.context).toEqual([]);
    expect(late).toMatchObject([{ decision: { context: 'done' } }]);
  });

  test('may announce that itself in its first line', async () => {
    const { verdict, late } = await fire(
      command(`echo '{"async":true,"asyncTimeout":60000}'; ${SAYS}`),
    );
    expect(verdict.outcomes).toMatchObject([{ status: 'background' }]);
    expect(late).toMatchObject([{ decision: { context: 'done' } }]);
  });

  test('that asks for more time than it has is ended then', async () => {
    const { late } = await fire(command(`echo '{"async":true,"asyncTimeout":50}'; sleep 60`));
    expect(late).toMatchObject([{ failure: { kind: 'timeout' } }]);
  });

  test('wakes a session with a user, and is awaited without one', async () => {
    const wakes = command('echo look >&2; exit 2', { asyncRewake: true });
    const attended = await fire(wakes, { isAttended: true });
    expect(attended.verdict.effect).toBe('pass');
    expect(attended.late).toMatchObject([{ decision: { context: 'look', wake: true } }]);
    const alone = await fire(wakes);
    expect(alone.verdict).toMatchObject({ effect: 'deny' });
    expect(alone.late).toEqual([]);
  });

  test('refuses nothing by failing, even if its failures block', async () => {
    const { verdict, late } = await fire(command('exit 1', { async: true, onFailure: 'block' }));
    expect(verdict.effect).toBe('pass');
    expect(late).toMatchObject([{ status: 'failed', effect: 'pass' }]);
  });
});

test.each([
  ['[[ -f x ]] && echo y', 'needs bash'],
  ['a=(1 2); echo ${a[0]}', 'needs bash'],
  ['cat <<< "$X"', 'needs bash'],
  ["bash -c '[[ -f x ]]'", undefined],
  ['node -e "const p=(1);function f(){}"', undefined],
  ["python3 -c 'a=(1, 2); print([[1]])'", undefined],
  ['[ -f x ] && echo y', undefined],
])('%s is noted if only bash knows it', async (text, note) => {
  const ownHost = await host(configured('Stop', command(text)));
  const [status] = ownHost.hooks();
  if (note === undefined) expect(status?.hook.notes).toEqual([]);
  else expect(status?.hook.notes).toEqual([expect.stringContaining(note)]);
});

test.each([
  ['prettier --write "$CLAUDE_FILE_PATHS"', ['$CLAUDE_FILE_PATHS', '.tool_input.file_path']],
  [
    'check ${CLAUDE_TOOL_INPUT_FILE_PATH}',
    ['$CLAUDE_TOOL_INPUT_FILE_PATH', '.tool_input.file_path'],
  ],
  ['node x.mjs "$TOOL_INPUT"', ['$TOOL_INPUT', '.tool_input']],
  ['echo $CLAUDE_TOOL_NAME >> log', ['$CLAUDE_TOOL_NAME', '.tool_name']],
  ['for f in $CLAUDE_FILE_PATHS; do x "$f"; done', ['$CLAUDE_FILE_PATHS', 'never set']],
  ['say "$CLAUDE_NOTIFICATION"', ['$CLAUDE_NOTIFICATION', '.message']],
  ['FILE_PATH=$(jq -r .tool_input.file_path); cat "$FILE_PATH"', []],
  ['while read -r FILE_PATH; do cat "$FILE_PATH"; done', []],
  ['cat "${CLAUDE_FILE_PATHS:-$(jq -r .tool_input.file_path)}"', []],
  ['echo "$SET_BY_THE_PERSON $CLAUDE_PROJECT_DIR $HOME"', []],
])('%s is noted if no variable of a name that it uses is set', async (text, words) => {
  const ownHost = await host(configured('PostToolUse', command(text)));
  const notes = ownHost.hooks()[0]?.hook.notes ?? [];
  expect(notes).toHaveLength(words.length === 0 ? 0 : 1);
  for (const word of words) expect(notes[0]).toContain(word);
});

test('a file that changed stands elsewhere on stdin', async () => {
  const ownHost = await host(configured('FileChanged', command('check "$FILE_PATH"')));
  expect(ownHost.hooks()[0]?.hook.notes).toEqual([
    '$FILE_PATH is never set: read .file_path of the JSON on stdin instead',
  ]);
});

test.each([
  [
    { command: 'npx prettier --write', args: ['x'] },
    'with "args", "command" is one program: put "prettier", "--write" at the front of "args"',
  ],
  [
    { command: 'prettier', args: ['--write', '${tool_input.file_path}'] },
    '${tool_input.file_path} is not replaced: a command reads it on stdin',
  ],
])('%j is noted: nothing is expanded or split there', async (more, note) => {
  const ownHost = await host(configured('PostToolUse', command(more.command, more)));
  expect(ownHost.hooks()[0]?.hook.notes).toEqual([note]);
});

test('the exchange with a hook is passed to the subscriber', async () => {
  const exchanges: DecodedExchange[] = [];
  const workspace = configured('UserPromptSubmit', command('echo out; echo err >&2; exit 3'));
  const { engine } = await host(workspace, { onExchange: (each) => exchanges.push(each) });
  await engine.dispatch({ name: 'UserPromptSubmit', prompt: 'hello' });
  expect(exchanges).toMatchObject([
    {
      hook: 'claude:project:UserPromptSubmit:echo',
      asked: '/bin/sh -c echo out; echo err >&2; exit 3',
      cwd: workspace.root,
      payload: expect.stringContaining('"prompt":"hello"'),
      ending: 'exit code 3',
      stdout: 'out\n',
      stderr: 'err\n',
    },
  ]);
});

test('hooks of one event share one payload, and a long context is kept in a file', async () => {
  const workspace = configured(
    'UserPromptSubmit',
    command('head -c 20000 /dev/zero | tr "\\0" x'),
    command('echo short'),
  );
  const { engine } = await host(workspace);
  const { context } = await engine.dispatch({ name: 'UserPromptSubmit', prompt: '' });
  const [long, short] = context.map(({ text }) => text);
  const file = /saved to: (.+)\n/.exec(long ?? '')?.[1] ?? '';
  expect(path.relative(workspace.home, file)).toMatch(/^\.hookline\/tool-results\//);
  expect(readFileSync(file, 'utf8')).toBe('x'.repeat(20_000));
  expect(short?.trim()).toBe('short');
});

test.runIf(process.platform === 'linux')(
  'a hook that opens /dev/stdin by its name finds its payload there',
  async () => {
    const workspace = createTempWorkspace({
      'ws/.claude/settings.json': JSON.stringify({
        hooks: {
          UserPromptSubmit: [
            {
              hooks: [
                command('cat /dev/stdin | grep -o \'"prompt":"[a-z]*"\''),
                command('sh "$CLAUDE_PROJECT_DIR"/.claude/hooks/read.sh'),
                command('node ${CLAUDE_PROJECT_DIR}/.claude/hooks/read.mjs'),
              ],
            },
          ],
        },
      }),
      'ws/.claude/hooks/read.sh': 'INPUT=$(cat < /dev/stdin); echo "sh ${#INPUT}" | grep -v " 0"',
      'ws/.claude/hooks/read.mjs':
        "import { readFileSync } from 'node:fs';\nconsole.log('node', JSON.parse(readFileSync('/dev/stdin')).prompt);",
    });
    const { engine } = await host(workspace);
    const { context, outcomes } = await engine.dispatch({
      name: 'UserPromptSubmit',
      prompt: 'hello',
    });
    expect(outcomes.map(({ stderr }) => stderr)).toEqual(['', '', '']);
    expect(context.map(({ text }) => text.trim())).toEqual([
      '"prompt":"hello"',
      expect.stringMatching(/^sh \d+$/),
      'node hello',
    ]);
  },
);
