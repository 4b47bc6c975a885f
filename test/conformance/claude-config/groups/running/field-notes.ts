import { expect } from 'vitest';
import {
  answered,
  bash,
  call,
  command,
  expectVerdict,
  type Group,
  hooks,
  records,
  type OpenFixture,
  type VerdictSummary,
} from '../../fixture.ts';

const decides = (event: string, fields: object): string =>
  `echo '${JSON.stringify({ hookSpecificOutput: { hookEventName: event, ...fields } })}'`;

/** One PreToolUse hook of real life, and what comes of it. */
const pre =
  (text: string, expected: VerdictSummary, more: object = {}) =>
  async (openFixture: OpenFixture) => {
    const { fire } = await openFixture({ project: hooks('PreToolUse', [command(text, more)]) });
    expectVerdict(await fire('PreToolUse', bash('rm -rf /tmp/x')), expected);
  };

/** Fields that are not read: nothing happens, and a warning is for the hook's author. */
const ignored =
  (event: 'PreToolUse' | 'PostToolUse', fields: object, note: string) => async (openFixture: OpenFixture) => {
    const { fire } = await openFixture({ project: hooks(event, [command(decides(event, fields))]) });
    const verdict = await fire(event, {
      ...bash('ls'),
      ...(event === 'PostToolUse' ? answered('a') : {}),
    });
    expectVerdict(verdict, {});
    expect(verdict.outcomes[0]?.warnings?.join('\n')).toContain(note);
  };

const NODE = `node -e "const {tool_input:{command}}=JSON.parse(require('fs').readFileSync(0,'utf8'));if(/rm -rf/.test(command)){console.error('no '+command);process.exit(2)}"`;
const PYTHON = `python3 -c "import json,sys; c=json.load(sys.stdin)['tool_input']['command']; print('no',c,file=sys.stderr); sys.exit(2)"`;
const CHAIN = `cd "$CLAUDE_PROJECT_DIR" && jq -e '.tool_input.command | test("rm -rf") | not' > /dev/null || { echo chained >&2; exit 2; }`;
const UNPARSABLE = 'if [[ "$x" =~ (a|b) ]]; then exit 2; fi';

/** What real hooks rely on. */
export const fieldNotes: Group = {
  name: 'field-notes',
  cases: [
    { name: 'a command that the shell cannot parse', run: notesFailedShell },
    {
      name: 'the same command with "shell": "bash"',
      needs: ['bash'],
      run: pre(UNPARSABLE, {}, { shell: 'bash' }),
    },
    { name: '${CLAUDE_PLUGIN_ROOT:-.} in a plugin', run: exportsPluginRoot },
    { name: 'variables of a session around this one', run: dropsForeignPaths },
    { name: 'names of fields that other hosts use', run: sendsAliases },
    { name: 'a variable that no host sets', run: pointsAtVariables },
    { name: 'a hook that repeats its stdin', run: pre('cat', {}) },
    {
      name: 'modifiedToolInput',
      run: ignored('PreToolUse', { modifiedToolInput: { command: 'ls' } }, 'modifiedToolInput'),
    },
    {
      name: 'systemMessage in hookSpecificOutput',
      run: ignored('PreToolUse', { systemMessage: 'hello' }, 'systemMessage'),
    },
    {
      name: 'permissionDecision on PostToolUse',
      run: ignored('PostToolUse', { permissionDecision: 'deny' }, 'permissionDecision'),
    },
    {
      name: 'a one-liner in node',
      run: pre(NODE, { effect: 'deny', reasons: [`[${NODE}]: no rm -rf /tmp/x`] }),
    },
    {
      name: 'a one-liner in python',
      needs: ['python3'],
      run: pre(PYTHON, { effect: 'deny', reasons: [`[${PYTHON}]: no rm -rf /tmp/x`] }),
    },
    {
      name: 'cd and a chain',
      needs: ['jq'],
      run: pre(CHAIN, { effect: 'deny', reasons: [`[${CHAIN}]: chained`] }),
    },
    { name: '|| true', run: pre('exit_with_nonsense 2> /dev/null || true', {}) },
    { name: 'a missing python script blocks', needs: ['python3'], run: blocksWithoutScript },
    { name: 'a transcript that can be read', needs: ['jq'], run: hasTranscript },
  ],
};

/** An accidental denial must be distinguished from an intended one. */
async function notesFailedShell(openFixture: OpenFixture): Promise<void> {
  const { fire, has } = await openFixture({
    project: hooks('PreToolUse', [
      command('[ -z "$BASH_VERSION" ] && : > sh-is-plain; exit 0'),
      command(UNPARSABLE),
    ]),
  });
  const { effect, outcomes } = await fire('PreToolUse', bash('ls'));
  // Where /bin/sh is bash, there is nothing that it could not parse.
  if (!has('sh-is-plain')) return expect(effect).toBe('pass');
  expect(effect).toBe('deny');
  expect(outcomes[1]?.notes.join('\n')).toContain('the shell could not parse this command');
}

async function exportsPluginRoot(openFixture: OpenFixture): Promise<void> {
  const text = 'echo "${CLAUDE_PLUGIN_ROOT:-.}" > "$CLAUDE_PROJECT_DIR/root.log"';
  const { fire, lines, directory } = await openFixture({
    plugins: ['plug'],
    beside: { 'plug/hooks/hooks.json': hooks('PreToolUse', [command(text)]) },
  });
  await fire('PreToolUse', bash('ls'));
  expect(lines('root.log')).toEqual([`${directory}/plug`]);
}

async function dropsForeignPaths(openFixture: OpenFixture): Promise<void> {
  const text = 'echo "${CLAUDE_PLUGIN_ROOT-none} ${CLAUDE_ENV_FILE-none} $OWN" > seen.log';
  const { fire, lines } = await openFixture({
    project: hooks('PreToolUse', [command(text)]),
    env: { CLAUDE_PLUGIN_ROOT: '/outer', CLAUDE_ENV_FILE: '/outer/env.sh', OWN: 'kept' },
  });
  await fire('PreToolUse', bash('ls'));
  expect(lines('seen.log')).toEqual(['none none kept']);
}

async function pointsAtVariables(openFixture: OpenFixture): Promise<void> {
  const text = 'echo "<$CLAUDE_FILE_PATHS>" > seen.log';
  const { fire, lines, host } = await openFixture({ project: hooks('PreToolUse', [command(text)]) });
  await fire('PreToolUse', bash('ls'));
  expect(lines('seen.log')).toEqual(['<>']);
  expect(host.hooks()[0]?.hook.notes.join('\n')).toContain('$CLAUDE_FILE_PATHS is never set');
}

async function sendsAliases(openFixture: OpenFixture): Promise<void> {
  const all = [{ hooks: [command(records('told.log'))] }];
  const { fire, recorded } = await openFixture({
    project: { hooks: { UserPromptSubmit: all, SessionStart: all, PostToolUse: all } },
  });
  await fire('UserPromptSubmit');
  await fire('SessionStart');
  await fire('PostToolUse', { ...bash('ls'), ...answered('a') });
  const [prompt, start, result] = recorded('told.log').map(({ payload }) => payload);
  expect(prompt).toMatchObject({ prompt: expect.any(String), user_prompt: prompt?.['prompt'] });
  expect(start).toMatchObject({ source: expect.any(String), session_trigger: start?.['source'] });
  expect(result).toMatchObject({
    tool_response: expect.any(Object),
    tool_result: result?.['tool_response'],
  });
}

/** Python exits with 2 for a file that it cannot open, which blocks, as in Claude Code. */
async function blocksWithoutScript(openFixture: OpenFixture): Promise<void> {
  const { fire } = await openFixture({ project: hooks('PreToolUse', [command('python3 missing.py')]) });
  const { effect, reasons } = await fire('PreToolUse', call('Read', { file_path: 'a.txt' }));
  expect(effect).toBe('deny');
  expect(reasons[0]?.text).toContain('missing.py');
}

async function hasTranscript(openFixture: OpenFixture): Promise<void> {
  const text =
    'file=$(jq -r .transcript_path); [ -r "$file" ] && grep -c . "$file" > lines.log; exit 0';
  const { fire, has } = await openFixture({ project: hooks('Stop', [command(text)]) });
  expectVerdict(await fire('Stop'), {});
  expect(has('lines.log')).toBe(true);
}
