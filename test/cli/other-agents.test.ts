import { expect, it } from 'vitest';
import { isRecord } from '../../src/base/json.ts';
import { readRecordedPayloads } from '../dialects/recorded-payloads.ts';
import { jsonOf, runHookline } from './hookline.ts';
import {
  at,
  createTempWorkspace,
  HOOKS,
  nodeHook,
  type TempWorkspace,
  trust,
  write,
} from './temp-workspace.ts';

type Payload = Readonly<Record<string, unknown>>;

const CLAUDE_GUARD = `
let text = '';
process.stdin.on('data', (chunk) => (text += chunk)).on('end', () => {
  const { tool_name: tool, tool_input: input } = JSON.parse(text);
  const isShell = tool === 'Bash' && input.command.includes('echo hi');
  const isSecret = ['Edit', 'Write'].includes(tool) && input.file_path.endsWith('/secret.env');
  if (!isShell && !isSecret) return;
  process.stderr.write('claude guard: ' + tool);
  process.exitCode = 2;
});
`;

const CLINE_GUARD = nodeHook(`
  const { toolName, parameters } = input.preToolUse;
  const isShell = toolName === 'execute_command' && parameters.command.includes('echo hi');
  const isSecret =
    ['write_to_file', 'replace_in_file'].includes(toolName) && parameters.path.endsWith('secret.env');
  const isDenied = isShell || isSecret;
  console.log(JSON.stringify({ cancel: isDenied, errorMessage: 'cline guard: ' + toolName }));
`);

const PLUGIN_GUARD = `
export default {
  name: 'guard',
  manifest: { capabilities: ['hooks'] },
  hooks: {
    beforeTool({ toolCall, input }) {
      const isShell = toolCall.toolName === 'run_commands' && input.commands[0].includes('echo hi');
      const isSecret = toolCall.toolName === 'editor' && input.path.endsWith('secret.env');
      if (!isShell && !isSecret) return undefined;
      return { skip: true, reason: 'plugin guard: ' + toolCall.toolName };
    },
  },
};
`;

const entry = {
  matcher: 'Bash|Edit|Write',
  hooks: [{ type: 'command', command: 'node "$CLAUDE_PROJECT_DIR/guard.mjs"' }],
};

function createGuardedWorkspace(): TempWorkspace {
  const workspace = createTempWorkspace({
    '.claude/settings.json': JSON.stringify({ hooks: { PreToolUse: [entry] } }),
    'guard.mjs': CLAUDE_GUARD,
    [`${HOOKS}/PreToolUse`]: CLINE_GUARD,
    '.cline/plugins/guard.ts': PLUGIN_GUARD,
  });
  trust(workspace);
  return workspace;
}

/** Fires a payload of an agent in the workspace of the three guards; the recorded directory is moved there. */
async function fire(workspace: TempWorkspace, agent: string, payload: Payload) {
  const text = JSON.stringify(payload).replaceAll('/home/dev/project', workspace.repo);
  const file = write(workspace.home, `${agent}.json`, text);
  const args = ['hooks', 'fire', '--payload', file, '--as', agent, '--json'];
  const result = await runHookline(args, at(workspace));
  const json: unknown = jsonOf(result);
  const reasons = isRecord(json) && Array.isArray(json['reasons']) ? json['reasons'] : [];
  const texts = reasons.filter(isRecord).map(({ text: reason }) => String(reason));
  return { code: result.code, stderr: result.stderr, texts };
}

const recorded = (agent: string, name: string): Payload =>
  readRecordedPayloads().find((each) => each.agent === agent && each.name === name)?.payload ?? {};

const PATCH = [
  '*** Begin Patch',
  '*** Update File: notes.txt',
  '*** Move to: secret.env',
  '@@',
  '-a',
  '+b',
  '*** End Patch',
].join('\n');

const CURSOR = {
  conversation_id: 'c',
  generation_id: 'g',
  model: 'm',
  cursor_version: '2.0',
  workspace_roots: ['/home/dev/project'],
};
const DROID = {
  session_id: 'abc123',
  transcript_path: '/home/dev/t.jsonl',
  cwd: '/home/dev/project',
  permission_mode: 'off',
  hook_event_name: 'PreToolUse',
};
const EDIT = { file_path: 'secret.env', old_string: 'a', new_string: 'b' };

interface Calls {
  readonly agent: string;
  /** Payloads that run `echo hi`. */
  readonly shell: readonly Payload[];
  /** Payloads that change secret.env. */
  readonly change: readonly Payload[];
}

const codex = recorded('codex', 'PreToolUse');
const gemini = recorded('gemini', 'BeforeTool');
const copilot = recorded('copilot', 'preToolUse');
const copilotClaude = recorded('copilot', 'PreToolUse');
const qwen = recorded('qwen', 'PreToolUse');
const opencode = recorded('opencode', 'tool.execute.before');
const withTool = (payload: Payload, name: string, input: unknown): Payload => ({
  ...payload,
  tool_name: name,
  tool_input: input,
});

const CALLS: readonly Calls[] = [
  {
    agent: 'codex',
    shell: [codex],
    change: [withTool(codex, 'apply_patch', { command: PATCH })],
  },
  {
    agent: 'gemini',
    shell: [gemini],
    change: [
      withTool(gemini, 'write_file', { file_path: '/home/dev/project/secret.env', content: '' }),
      withTool(gemini, 'replace', EDIT),
    ],
  },
  {
    agent: 'copilot',
    shell: [copilot, copilotClaude],
    change: [
      { ...copilot, toolName: 'create', toolArgs: { path: 'secret.env', file_text: 'x' } },
      {
        ...copilot,
        toolName: 'edit',
        toolArgs: { path: 'secret.env', old_str: 'a', new_str: 'b' },
      },
      withTool(copilotClaude, 'Edit', { path: 'secret.env', old_str: 'a', new_str: 'b' }),
    ],
  },
  {
    agent: 'qwen',
    shell: [qwen],
    change: [withTool(qwen, 'edit', EDIT)],
  },
  {
    agent: 'cursor',
    shell: [
      { ...CURSOR, hook_event_name: 'beforeShellExecution', command: 'echo hi', cwd: '' },
      {
        ...CURSOR,
        hook_event_name: 'preToolUse',
        tool_name: 'Shell',
        tool_input: { command: 'echo hi' },
        tool_use_id: 't1',
      },
    ],
    change: [
      { ...CURSOR, hook_event_name: 'preToolUse', tool_name: 'Write', tool_input: EDIT },
      {
        ...CURSOR,
        hook_event_name: 'preToolUse',
        tool_name: 'Delete',
        tool_input: { file_path: 'secret.env' },
      },
    ],
  },
  {
    agent: 'droid',
    shell: [withTool(DROID, 'Execute', { command: 'echo hi' })],
    change: [
      withTool(DROID, 'Create', { file_path: 'secret.env', content: 'x' }),
      withTool(DROID, 'ApplyPatch', { input: PATCH }),
    ],
  },
  {
    agent: 'opencode',
    shell: [opencode],
    change: [
      {
        ...opencode,
        input: { tool: 'edit', sessionID: 's', callID: 'c' },
        output: { args: { filePath: 'secret.env', oldString: 'a', newString: 'b' } },
      },
    ],
  },
];

it.each(CALLS)('one workspace guards the calls of $agent', async ({ agent, shell, change }) => {
  const workspace = createGuardedWorkspace();
  for (const payload of shell) {
    expect({ payload, ...(await fire(workspace, agent, payload)) }).toEqual({
      payload,
      code: 1,
      stderr: '',
      texts: expect.arrayContaining([
        expect.stringContaining('claude guard: Bash'),
        'cline guard: execute_command',
        'plugin guard: run_commands',
      ]),
    });
  }
  for (const payload of change) {
    expect({ payload, ...(await fire(workspace, agent, payload)) }).toEqual({
      payload,
      code: 1,
      stderr: '',
      texts: expect.arrayContaining([
        expect.stringMatching(/claude guard: (?:Edit|Write)/u),
        expect.stringMatching(/^cline guard: (?:write_to_file|replace_in_file)$/u),
        'plugin guard: editor',
      ]),
    });
  }
});

it('a payload of another agent is refused with what was expected', async () => {
  const workspace = createTempWorkspace({});
  const file = write(workspace.home, 'other.json', JSON.stringify(gemini));
  const args = ['hooks', 'fire', '--payload', file, '--as', 'codex'];
  const { code, stderr } = await runHookline(args, at(workspace));
  expect(code).toBe(2);
  expect(stderr).toContain('"hook_event_name" should name an event of Codex, found "BeforeTool"');
});

const UNMAPPED = ['BeforeToolSelection', 'userPromptTransformed', 'init', 'event:session.updated'];
const GATES = ['PreToolUse', 'BeforeTool', 'preToolUse', 'tool.execute.before'];

const RECORDED_AGENTS = [...new Set(readRecordedPayloads().map(({ agent }) => agent))];

it.each(RECORDED_AGENTS)('every other recorded payload of %s can be fired', async (agent) => {
  const workspace = createGuardedWorkspace();
  const skipped = [...UNMAPPED, ...GATES];
  const payloads = readRecordedPayloads().filter(
    (each) => each.agent === agent && !skipped.includes(each.name),
  );
  for (const { name, payload } of payloads) {
    const { code, stderr, texts } = await fire(workspace, agent, payload);
    expect({ name, code, stderr, texts }).toEqual({ name, code: 0, stderr: '', texts: [] });
  }
});
