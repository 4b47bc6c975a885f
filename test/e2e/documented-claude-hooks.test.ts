import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { environmentOf, jsonOf, runHookline } from '../cli/hookline.ts';
import {
  at,
  createTempWorkspace,
  hasProgram,
  type TempWorkspace,
  write,
} from '../cli/temp-workspace.ts';
import { DocumentedGuide, listMisfits, parseShape } from './documented-guide.ts';
import { flagsFor, type SentMessage, type ServiceTurn, startService } from './service.ts';

const GUIDE = new DocumentedGuide('claude-hooks');
const CONFIGURATION = GUIDE.take('Configuration Format');
const COMMAND_HOOK = GUIDE.take('Command Hooks');
const PROMPT_HOOK = GUIDE.take('Prompt Hooks');
const COMMON_INPUT = GUIDE.take('Hook Input (stdin)', 0);
const TOOL_INPUT = GUIDE.take('Hook Input (stdin)', 1);
const PROMPT_INPUT = GUIDE.take('Hook Input (stdin)', 2);
const SESSION_INPUT = GUIDE.take('Hook Input (stdin)', 3);
const EXTRACTING = GUIDE.take('Extracting Data in Scripts', 0);
const PIPING = GUIDE.take('Extracting Data in Scripts', 1);
const FILE_TYPE_FILTER = GUIDE.take('File Type Filter');
const BLOCK_PROTECTED = GUIDE.take('Block Protected Files');
const VALIDATE_CONTENT = GUIDE.take('Validate Content');
const FORMAT_AFTER_EDIT = GUIDE.take('Format After Edit');
const SESSION_SETUP = GUIDE.take('Session Setup');
const LOG_COMMANDS = GUIDE.take('Log Commands');
const CONDITIONAL = GUIDE.take('Conditional Execution');
const VALIDATE_INPUT = GUIDE.take('Security', 0);
const QUOTE_VARIABLES = GUIDE.take('Security', 1);
const DANGEROUS_PATTERNS = GUIDE.take('Security', 2);
const MULTIPLE_HOOKS = GUIDE.take('Multiple Hooks');
const DEBUG_COMMAND = GUIDE.take('Debugging Hooks', 0);
const TEST_DIRECTLY = GUIDE.take('Debugging Hooks', 1);
const FORMATTER_CONFIGURATION = GUIDE.take('Auto-Formatter Plugin', 0);
const FORMATTER_SCRIPT = GUIDE.take('Auto-Formatter Plugin', 1);
const PROTECTION_CONFIGURATION = GUIDE.take('File Protection Plugin', 0);
const PROTECTION_SCRIPT = GUIDE.take('File Protection Plugin', 1);

const hasJq = hasProgram('bash') && hasProgram('jq');

/** Settings of the user with one handler for an event, as text or as an object. */
function configure(
  { home }: TempWorkspace,
  event: string,
  handler: string | object,
  matcher = '*',
): void {
  const text = typeof handler === 'string' ? handler : JSON.stringify(handler);
  const group = `{ "matcher": ${JSON.stringify(matcher)}, "hooks": [${text}] }`;
  write(home, '.claude/settings.json', `{ "hooks": { "${event}": [${group}] } }`);
}

/** An empty home whose only hook is this script. */
function createWithScript(event: string, script: string, matcher?: string): TempWorkspace {
  const workspace = createTempWorkspace({ 'a.ts': 'one\n', 'a.md': 'one\n' });
  const command = write(workspace.home, 'hook.sh', script);
  // Three of the samples are parts of a script, without its first line.
  const line = script.startsWith('#!') ? command : `bash ${command}`;
  configure(workspace, event, { type: 'command', command: line }, matcher);
  return workspace;
}

const PLUGIN = 'plugin';

/** A plugin outside of the repository: its files by their paths in it. */
function createWithPlugin(files: Readonly<Record<string, string>>): TempWorkspace {
  const workspace = createTempWorkspace({ 'a.ts': 'one\n', 'a.md': 'one\n' });
  for (const [name, text] of Object.entries(files)) {
    write(workspace.home, `${PLUGIN}/${name}`, text);
  }
  return workspace;
}

/** A directory of the PATH with programs that log their arguments, and change the files that they format. */
function withFormatters(workspace: TempWorkspace): { readonly PATH: string } {
  const formatter = `#!/bin/sh
echo "$(basename "$0") $*" >> '${workspace.directory}/formatters.log'
for file; do :; done
case "$*" in *--write*) grep -qx formatted "$file" || echo formatted >> "$file";; esac
`;
  for (const name of ['npx', 'prettier']) write(workspace.directory, `bin/${name}`, formatter);
  return { PATH: `${workspace.directory}/bin:${process.env['PATH']}` };
}

function readLog({ directory }: TempWorkspace): string {
  const file = path.join(directory, 'formatters.log');
  return existsSync(file) ? readFileSync(file, 'utf8').replaceAll(directory, '') : '';
}

function readRepoFile({ repo }: TempWorkspace, name: string): string {
  return readFileSync(path.join(repo, name), 'utf8');
}

interface RunOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs turns of a model; `read` is what it was sent, one text for each request. */
async function runTurns(
  workspace: TempWorkspace,
  turns: readonly ServiceTurn[],
  { args = [], env = {} }: RunOptions = {},
) {
  const service = await startService([...turns, { text: 'Done.' }]);
  const flags = [
    ...flagsFor(service),
    '--permission-mode',
    'bypassPermissions',
    '--sandbox',
    'off',
  ];
  const result = await runHookline(['run', 'go', ...flags, ...args], at(workspace, { env }));
  const toText = (messages: readonly SentMessage[]) => messages.map(({ text }) => text).join('\n');
  return { ...result, read: service.requests().map(({ messages }) => toText(messages)) };
}

const call = (name: string, input: object): ServiceTurn => ({ tools: [{ name, input }] });
const read = (file: string): ServiceTurn => call('Read', { file_path: file });
const edit = (file: string, newText: string, oldText = 'one'): ServiceTurn =>
  call('Edit', { file_path: file, old_string: oldText, new_string: newText });
const bash = (command: string): ServiceTurn => call('Bash', { command });
const usePlugin = ({ home }: TempWorkspace) => ['--plugin-dir', path.join(home, PLUGIN)];

async function fire(
  workspace: TempWorkspace,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  return jsonOf(await runHookline(['hooks', 'fire', ...args, '--json'], at(workspace, { env })));
}

const onFile = (tool: string, file: string, fields: object = {}) => [
  '--tool',
  tool,
  '--input',
  JSON.stringify({ file_path: file, ...fields }),
];

it('every sample of the guide is tried', () => {
  expect(GUIDE.listUntaken()).toEqual([]);
});

describe.skipIf(!hasJq)(
  'configuration of the published guide (skipped without bash and jq)',
  () => {
    it('is read with its matchers and its time-out in milliseconds', async () => {
      const workspace = createWithPlugin({
        'hooks/hooks.json': CONFIGURATION,
        'scripts/format.sh': FORMATTER_SCRIPT,
      });
      const listed = await runHookline(
        ['hooks', 'list', '--json', ...usePlugin(workspace)],
        at(workspace),
      );
      expect(jsonOf(listed).hooks).toMatchObject([
        { event: 'PreToolUse', matcher: 'Edit|Write', timeoutMs: 10_000, state: 'ready' },
        { event: 'PostToolUse', matcher: '*', timeoutMs: 600_000, state: 'ready' },
      ]);
    });

    it('runs its script before a change, and its command after every tool', async () => {
      const workspace = createWithPlugin({
        'hooks/hooks.json': CONFIGURATION,
        'scripts/format.sh': FORMATTER_SCRIPT,
      });
      const env = withFormatters(workspace);
      // A file that a hook changes before an edit would have to be read again.
      write(workspace.repo, 'a.ts', 'one\nformatted\n');
      const turns = [read('a.ts'), edit('a.ts', 'two'), bash('true')];
      const args = [...usePlugin(workspace), '--output', 'stream-json'];
      const { stdout } = await runTurns(workspace, turns, { args, env });
      const verdicts = stdout
        .split('\n')
        .filter((line) => line.startsWith('{"type":"hook"'))
        .map((line) => JSON.parse(line))
        .filter(({ outcomes }) => outcomes.length > 0);
      expect(verdicts.map(({ event, outcomes }) => [event, outcomes[0].stdout])).toEqual([
        ['PostToolUse', 'Tool used\n'],
        ['PreToolUse', ''],
        ['PostToolUse', 'Tool used\n'],
        ['PostToolUse', 'Tool used\n'],
      ]);
      expect(readLog(workspace)).toBe('prettier --write /repo/a.ts\n');
    });

    it.each([
      ['Edit', 'Edit', 'edit', true, false],
      ['Edit', 'Edit', 'Write', true, false],
      ['Edit|Write', 'Write', 'Bash', true, false],
      ['*', 'Edit', 'mcp__server__tool', true, true],
      ['mcp__.*', 'mcp__other__tool', 'Edit', true, false],
      ['mcp__server__.*', 'mcp__server__tool', 'mcp__other__tool', true, false],
    ])('matcher %j: %s and %s', async (matcher, one, other, ...matches) => {
      const workspace = createTempWorkspace();
      configure(workspace, 'PreToolUse', { type: 'command', command: 'true' }, matcher);
      const ran = async (tool: string): Promise<boolean> =>
        (await fire(workspace, ['PreToolUse', '--tool', tool])).outcomes.length > 0;
      expect([await ran(one), await ran(other)]).toEqual(matches);
    });

    it.each(['startup', 'resume', 'clear', 'compact', '*'])(
      'matcher %j of SessionStart',
      async (matcher) => {
        const workspace = createTempWorkspace();
        configure(workspace, 'SessionStart', { type: 'command', command: 'true' }, matcher);
        const sources = ['startup', 'resume', 'clear', 'compact'];
        const ran = await Promise.all(
          sources.map(async (source) => {
            const { outcomes } = await fire(workspace, ['SessionStart', '--source', source]);
            return outcomes.length > 0 ? [source] : [];
          }),
        );
        expect(ran.flat()).toEqual(matcher === '*' ? sources : [matcher]);
      },
    );

    it('of a command is a handler, whose exit code 0 adds its stdout to the context', async () => {
      const workspace = createTempWorkspace({ 'script.sh': 'echo "from the script"\n' });
      configure(workspace, 'UserPromptSubmit', COMMAND_HOOK);
      const listed = await runHookline(['hooks', 'list', '--json'], at(workspace));
      expect(jsonOf(listed).hooks).toMatchObject([{ timeoutMs: 60_000 }]);
      const { read: requests } = await runTurns(workspace, []);
      expect(requests[0]).toContain('from the script');
    });

    it('of a command blocks with exit code 2, and shows stderr to the model', async () => {
      const workspace = createTempWorkspace({ 'script.sh': 'echo "not that" >&2\nexit 2\n' });
      configure(workspace, 'PreToolUse', COMMAND_HOOK);
      const { read: requests } = await runTurns(workspace, [bash('touch made')]);
      expect(requests[1]).toContain('not that');
      expect(existsSync(path.join(workspace.repo, 'made'))).toBe(false);
    });

    it('of a command blocks nothing with another exit code, and shows the error to the user', async () => {
      const workspace = createTempWorkspace({ 'script.sh': 'echo "broken" >&2\nexit 7\n' });
      configure(workspace, 'PreToolUse', COMMAND_HOOK);
      const { read: requests, stderr } = await runTurns(workspace, [bash('touch made')]);
      expect(stderr).toMatch(/^failed: claude:user:PreToolUse:script.sh: .*code 7.*broken$/m);
      expect(requests[1]).not.toContain('broken');
      expect(existsSync(path.join(workspace.repo, 'made'))).toBe(true);
    });

    it('of a prompt has the model judge whether the agent may stop', async () => {
      const workspace = createTempWorkspace();
      configure(workspace, 'Stop', PROMPT_HOOK);
      const {
        code,
        stdout,
        read: requests,
      } = await runTurns(workspace, [
        { text: 'First answer.' },
        { text: '{"ok": false, "reason": "the tests are missing"}' },
        { text: 'Second answer.' },
        { text: '{"ok": true}' },
      ]);
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'Second answer.\n' });
      expect(requests[1]).toContain('Evaluate if the response is complete');
      expect(requests[2]).toContain('the tests are missing');
    });

    it('of a prompt has the model judge whether a sub-agent may stop', async () => {
      const workspace = createTempWorkspace();
      configure(workspace, 'SubagentStop', PROMPT_HOOK);
      const { stdout, read: requests } = await runTurns(workspace, [
        call('Agent', { description: 'x', prompt: 'look', subagent_type: 'general-purpose' }),
        { text: 'Too short.' },
        { text: '{"decision": "block", "reason": "look closer"}' },
        { text: 'Looked closer.' },
        { text: '{"decision": "approve"}' },
      ]);
      expect(stdout).toBe('Done.\n');
      expect(requests[3]).toContain('look closer');
      expect(requests[5]).toContain('Looked closer.');
    });

    it('of several hooks runs them in parallel', async () => {
      const workspace = createTempWorkspace();
      write(workspace.home, '.claude/settings.json', MULTIPLE_HOOKS);
      // Opening a pipe waits for whoever opens its other end.
      spawnSync('mkfifo', ['one', 'two'], { cwd: workspace.directory });
      const pipe = (name: string): string => path.join(workspace.directory, name);
      write(
        workspace.directory,
        'bin/script1.sh',
        `#!/bin/sh\necho hi > ${pipe('one')}\ncat ${pipe('two')}\n`,
      );
      write(
        workspace.directory,
        'bin/script2.sh',
        `#!/bin/sh\ncat ${pipe('one')}\necho ho > ${pipe('two')}\n`,
      );
      const env = { PATH: `${workspace.directory}/bin:${process.env['PATH']}` };
      const { outcomes } = await fire(workspace, ['PostToolUse', ...onFile('Edit', 'a.ts')], env);
      expect(outcomes).toMatchObject([
        { exitCode: 0, stdout: 'ho\n' },
        { exitCode: 0, stdout: 'hi\n' },
      ]);
    });
  },
);

describe.skipIf(!hasJq)('input of the published guide (skipped without bash and jq)', () => {
  /** What a hook of the event reads in a run. */
  async function readInput(event: string): Promise<Record<string, unknown>> {
    const workspace = createTempWorkspace({ 'a.ts': 'one\n' });
    const command = 'head -c 1000000 > "$HOME/input.json"';
    configure(workspace, event, { type: 'command', command }, event.endsWith('Use') ? 'Edit' : '*');
    await runTurns(workspace, [read('a.ts'), edit('a.ts', 'two')]);
    const input = JSON.parse(readFileSync(path.join(workspace.home, 'input.json'), 'utf8'));
    return { ...input, repo: workspace.repo };
  }

  const names = (shape: Record<string, unknown>): Record<string, string> =>
    Object.fromEntries(Object.keys(shape).map((key) => [key, 'string']));

  const EVENTS = ['PreToolUse', 'PostToolUse', 'UserPromptSubmit', 'SessionStart', 'Stop'];

  it.each(EVENTS)('has the common fields on %s', async (event) => {
    const input = await readInput(event);
    const { permission_mode: mode, ...common } = names(parseShape(COMMON_INPUT));
    const fields = event === 'SessionStart' ? common : { ...common, permission_mode: mode };
    expect(listMisfits(fields, input)).toEqual([]);
    expect(input['cwd']).toBe(input['repo']);
    expect(path.isAbsolute(String(input['transcript_path']))).toBe(true);
  });

  it('has the tool and what it reads and writes', async () => {
    const { tool_response: response, ...documented } = parseShape(TOOL_INPUT);
    expect(response).toBe('...');
    const before = await readInput('PreToolUse');
    const shape = {
      tool_name: documented['tool_name'],
      tool_input: names(Object(documented['tool_input'])),
    };
    expect(listMisfits(shape, before)).toEqual([]);
    expect(before['tool_input']).toMatchObject({ file_path: `${String(before['repo'])}/a.ts` });
    expect(before).not.toHaveProperty('tool_response');
    const after = await readInput('PostToolUse');
    expect(listMisfits(shape, after)).toEqual([]);
    // The guide shows a text; hooks of Claude Code read an object for each tool.
    expect(after['tool_response']).toMatchObject({ oldString: 'one', newString: 'two' });
  });

  it('has the prompt under the documented name, too', async () => {
    const input = await readInput('UserPromptSubmit');
    const [key = ''] = Object.keys(parseShape(PROMPT_INPUT));
    expect([input[key], input['prompt']]).toEqual(['go', 'go']);
  });

  it('has the trigger of a session and the file for its variables', async () => {
    const documented = parseShape(SESSION_INPUT);
    const input = await readInput('SessionStart');
    expect(input['session_trigger']).toBe(documented['session_trigger']);
    expect(listMisfits(names(documented), input)).toEqual([]);
    expect(path.isAbsolute(String(input['CLAUDE_ENV_FILE']))).toBe(true);
  });

  it.each([
    ['by a variable', EXTRACTING, 'Edit|/repo/a.ts||two\n'],
    ['by a pipe', PIPING, '|/repo/a.ts||\n'],
  ])('is extracted %s', async (_how, script, extracted) => {
    const workspace = createTempWorkspace();
    const file = write(workspace.home, 'extract.sh', script);
    const print = 'echo "$TOOL_NAME|$FILE_PATH|$COMMAND|$NEW_CONTENT"';
    configure(workspace, 'PreToolUse', {
      type: 'command',
      command: `. ${file}; ${print}`,
      shell: 'bash',
    });
    const input = onFile('Edit', 'a.ts', { old_string: 'one', new_string: 'two' });
    const { outcomes } = await fire(workspace, ['PreToolUse', ...input]);
    expect(outcomes[0].stdout.replace(workspace.directory, '')).toBe(extracted);
  });
});

describe.skipIf(!hasJq)('scripts of the published guide (skipped without bash and jq)', () => {
  it('filter by the type of a file', async () => {
    const workspace = createWithScript('PostToolUse', FILE_TYPE_FILTER, 'Edit');
    const env = withFormatters(workspace);
    const turns = [read('a.ts'), read('a.md'), edit('a.ts', 'two'), edit('a.md', 'two')];
    expect(await runTurns(workspace, turns, { env })).toMatchObject({ code: 0, stderr: '' });
    expect(readLog(workspace)).toBe('npx prettier --write /repo/a.ts\n');
    expect([readRepoFile(workspace, 'a.ts'), readRepoFile(workspace, 'a.md')]).toEqual([
      'two\nformatted\n',
      'two\n',
    ]);
  });

  it.each([
    ['.env', true],
    ['.git/config', true],
    ['a.ts', false],
  ])('block protected files: %s', async (file, isBlocked) => {
    const workspace = createWithScript('PreToolUse', BLOCK_PROTECTED, 'Write');
    const { read: requests, stderr } = await runTurns(workspace, [
      call('Write', { file_path: file, content: 'x' }),
    ]);
    const message = `Error: Cannot modify protected file: ${workspace.repo}/${file}`;
    expect([requests[1]?.includes(message), stderr.includes(message)]).toEqual([
      isBlocked,
      isBlocked,
    ]);
    expect(
      existsSync(path.join(workspace.repo, file)) && readRepoFile(workspace, file) === 'x',
    ).toBe(false);
  });

  it.each([
    ['const API_KEY = "x"', true],
    ['two', false],
  ])('validate content: %s', async (text, isBlocked) => {
    const workspace = createWithScript('PreToolUse', VALIDATE_CONTENT, 'Edit');
    const { read: requests } = await runTurns(workspace, [read('a.ts'), edit('a.ts', text)]);
    expect(requests[2]?.includes('Error: Detected potential secret')).toBe(isBlocked);
    expect(readRepoFile(workspace, 'a.ts')).toBe(isBlocked ? 'one\n' : 'two\n');
  });

  it('format after an edit, and the next edit works on what they formatted', async () => {
    const workspace = createWithScript('PostToolUse', FORMAT_AFTER_EDIT, 'Edit');
    const env = withFormatters(workspace);
    const turns = [read('a.ts'), edit('a.ts', 'two'), edit('a.ts', 'three', 'two\nformatted')];
    const { code, stderr } = await runTurns(workspace, turns, { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(readRepoFile(workspace, 'a.ts')).toBe('three\nformatted\n');
    const { outcomes, context } = await fire(
      workspace,
      ['PostToolUse', ...onFile('Edit', 'a.ts')],
      env,
    );
    expect(outcomes).toMatchObject([{ stdout: `Formatted: ${workspace.repo}/a.ts\n` }]);
    // Plain text is context on SessionStart and prompts only.
    expect(context).toEqual([]);
  });

  it('set up a session: variables, a directory and context', async () => {
    const command = '"${CLAUDE_PLUGIN_ROOT}"/scripts/setup.sh';
    const hooks = { SessionStart: [{ hooks: [{ type: 'command', command }] }] };
    const workspace = createWithPlugin({
      'hooks/hooks.json': JSON.stringify({ hooks }),
      'scripts/setup.sh': SESSION_SETUP,
      'bin/plugin-tool': '#!/bin/sh\necho "the tool of the plugin"\n',
    });
    const turns = [bash('printenv MY_VAR; plugin-tool')];
    const { read: requests } = await runTurns(workspace, turns, { args: usePlugin(workspace) });
    expect(requests[0]).toContain('Plugin initialized');
    expect(requests[1]).toContain('value\nthe tool of the plugin');
    expect(existsSync(path.join(workspace.repo, '.plugin-data'))).toBe(true);
  });

  it('log commands', async () => {
    const workspace = createWithScript('PreToolUse', LOG_COMMANDS, 'Bash');
    await runTurns(workspace, [bash('echo one'), bash('echo two')]);
    const lines = readRepoFile(workspace, '.command-history.log').trim().split('\n');
    expect(lines.map((line) => line.replace(/^.*: /, ''))).toEqual(['echo one', 'echo two']);
  });

  it('run only for some directories and types', async () => {
    const workspace = createWithScript('PostToolUse', CONDITIONAL, 'Write');
    const env = withFormatters(workspace);
    const turns = ['src/a.ts', 'src/a.md', 'other/a.ts'].map((file) =>
      call('Write', { file_path: file, content: 'x' }),
    );
    await runTurns(workspace, turns, { env });
    expect(readLog(workspace)).toBe('npx tsc --noEmit /repo/src/a.ts\n');
  });

  it('prevent traversal', async () => {
    const workspace = createWithScript('PreToolUse', VALIDATE_INPUT, 'Write');
    const blocked = await fire(workspace, ['PreToolUse', ...onFile('Write', 'a..b.ts')]);
    expect(blocked).toMatchObject({
      effect: 'deny',
      reasons: [{ text: expect.stringContaining('Invalid file path') }],
    });
    const passed = await fire(workspace, ['PreToolUse', ...onFile('Write', 'a.ts')]);
    expect(passed).toMatchObject({ effect: 'pass', outcomes: [{ exitCode: 0 }] });
  });

  it('quote variables: the good line reads a file with a blank in its name, the bad one does not', async () => {
    const workspace = createWithScript('PreToolUse', PIPING + QUOTE_VARIABLES);
    write(workspace.repo, 'my file.txt', 'content\n');
    const { outcomes } = await fire(workspace, ['PreToolUse', ...onFile('Read', 'my file.txt')]);
    expect(outcomes).toMatchObject([
      { stdout: 'content\n', stderr: expect.stringContaining(`${workspace.repo}/my`) },
    ]);
  });

  it.each([
    ['.env', 'deny'],
    ['.git/config', 'deny'],
    ['credentials', 'deny'],
    ['my-secrets.txt', 'deny'],
    ['a.ts', 'pass'],
  ])('check for dangerous patterns: %s', async (file, effect) => {
    const workspace = createWithScript('PreToolUse', VALIDATE_INPUT + DANGEROUS_PATTERNS);
    const verdict = await fire(workspace, ['PreToolUse', ...onFile('Edit', file)]);
    expect(verdict).toMatchObject({ effect });
    expect(JSON.stringify(verdict.reasons)).toMatch(
      effect === 'deny' ? 'Cannot modify protected file' : '[]',
    );
  });
});

describe.skipIf(!hasJq)('plugins of the published guide (skipped without bash and jq)', () => {
  it('format what was edited or written', async () => {
    const workspace = createWithPlugin({
      'hooks/hooks.json': FORMATTER_CONFIGURATION,
      'scripts/format.sh': FORMATTER_SCRIPT,
    });
    const env = withFormatters(workspace);
    const turns = [
      read('a.ts'),
      edit('a.ts', 'two'),
      call('Write', { file_path: 'b.css', content: 'x\n' }),
      call('Write', { file_path: 'c.rs', content: 'x\n' }),
      bash('true'),
    ];
    const args = usePlugin(workspace);
    expect(await runTurns(workspace, turns, { args, env })).toMatchObject({ code: 0, stderr: '' });
    expect(readLog(workspace)).toBe('prettier --write /repo/a.ts\nprettier --write /repo/b.css\n');
    expect(readRepoFile(workspace, 'b.css')).toBe('x\nformatted\n');
  });

  it('protect files', async () => {
    const workspace = createWithPlugin({
      'hooks/hooks.json': PROTECTION_CONFIGURATION,
      'scripts/protect.sh': PROTECTION_SCRIPT,
    });
    const files = ['.env', '.git/config', 'credentials.json', 'private.key', 'b.ts'];
    const turns = files.map((file) => call('Write', { file_path: file, content: 'x' }));
    const { read: requests, stderr } = await runTurns(workspace, turns, {
      args: usePlugin(workspace),
    });
    const message = (file: string) =>
      `Error: Cannot modify protected file: ${workspace.repo}/${file}`;
    expect(files.filter((file) => requests.at(-1)?.includes(message(file)))).toEqual(
      files.slice(0, 4),
    );
    expect(files.filter((file) => stderr.includes(message(file)))).toEqual(files.slice(0, 4));
    expect(existsSync(path.join(workspace.repo, '.env'))).toBe(false);
    expect(readRepoFile(workspace, 'b.ts')).toBe('x');
  });
});

describe.skipIf(!hasJq)('debugging of the published guide (skipped without bash and jq)', () => {
  it('prints what hooks read and answer', async () => {
    const workspace = createWithScript('PreToolUse', BLOCK_PROTECTED);
    const [program, ...flags] = DEBUG_COMMAND.trim().split(' ');
    expect(program).toBe('claude');
    const args = [...flags, 'hooks', 'fire', 'PreToolUse', ...onFile('Edit', '.env')];
    const { stderr } = await runHookline(args, at(workspace));
    expect(stderr).toContain(`"file_path":"${workspace.repo}/.env"`);
    expect(stderr).toContain('Error: Cannot modify protected file');
  });

  it('tests a script directly, with the answer that it gives here', async () => {
    const workspace = createWithScript('PreToolUse', BLOCK_PROTECTED, 'Edit');
    const env = environmentOf({ home: workspace.home });
    write(workspace.directory, 'by-hand/script.sh', BLOCK_PROTECTED);
    const cwd = path.join(workspace.directory, 'by-hand');
    const { status } = spawnSync('bash', ['-c', TEST_DIRECTLY], { cwd, env });
    expect(status).toBe(0);
    const [, payload = ''] = /^echo '(.*)' \|/u.exec(TEST_DIRECTLY) ?? [];
    const { tool_name: tool, tool_input: input } = JSON.parse(payload);
    const args = ['PreToolUse', '--tool', tool, '--input', JSON.stringify(input)];
    expect(await fire(workspace, args)).toMatchObject({
      effect: 'pass',
      outcomes: [{ status: 'decided', exitCode: 0 }],
    });
  });
});
