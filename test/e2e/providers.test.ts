import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonOf, runHookline } from '../cli/hookline.ts';
import {
  answering,
  at,
  createTempWorkspace,
  HOOKS,
  nodeHook,
  type TempWorkspace,
  trust,
  write,
} from '../cli/temp-workspace.ts';
import { rawService } from '../agent/models/services.ts';
import { type Line, linesOf } from './agent-run.ts';
import { type Service, type ServiceTurn, startService } from './service.ts';

const KEY = 'test-key-of-nobody';

/** Provider, model and path below the service's address, for each wire format and each provider. */
const PROVIDERS = [
  ['anthropic', 'claude-haiku-4-5', '', 'ANTHROPIC_API_KEY'],
  ['openai', 'gpt-4.1', '', 'OPENAI_API_KEY'],
  ['gemini', 'gemini-2.5-flash', '', 'GEMINI_API_KEY'],
  ['openai-compatible', 'gpt-4o', '', 'OPENAI_COMPATIBLE_API_KEY'],
  ['openrouter', 'anthropic/claude-haiku-4.5', '/api/v1', 'OPENROUTER_API_KEY'],
  ['ollama', 'llama-of-nobody', '/v1', 'OLLAMA_API_KEY'],
] as const;

/** US dollars for 600 tokens in and 60 out. */
const COSTS: Readonly<Record<string, number | null>> = {
  anthropic: 0.0009,
  openai: 0.001_68,
  gemini: 0.000_33,
  'openai-compatible': 0.0021,
  openrouter: 0.0009,
  ollama: null,
};

function turnsIn({ repo }: TempWorkspace): readonly ServiceTurn[] {
  return [
    {
      text: 'I look at it.',
      tools: [
        { name: 'Read', input: { file_path: path.join(repo, 'notes.txt') } },
        { name: 'Glob', input: { pattern: '*.md' } },
      ],
    },
    { tools: [{ name: 'Read', input: { file_path: path.join(repo, 'secret.txt') } }] },
    { tools: [{ name: 'Bash', input: { command: 'echo forbidden by claude' } }] },
    { tools: [{ name: 'Bash', input: { command: 'echo from bash | tr a-z A-Z' } }] },
    { tools: [{ name: 'Read', input: { file_path: path.join(repo, 'absent.txt') } }] },
    { text: 'The answer is 42.' },
  ];
}

const DENY_SECRETS = nodeHook(`
const { parameters = {} } = input.preToolUse;
const cancel = JSON.stringify(parameters).includes('secret');
process.stdout.write(JSON.stringify({ cancel, errorMessage: cancel ? 'Cline says no secrets' : '' }));
`);

const DENY_WORD = nodeHook(`
if (!input.tool_input.command.includes('forbidden')) process.exit(0);
console.error('Claude says not this word');
process.exit(2);
`);

function createWorkspaceWithHooks(): TempWorkspace {
  const workspace = createTempWorkspace({
    'notes.txt': 'forty-two is near\n',
    'secret.txt': 'hunter2\n',
    'CLAUDE.md': 'Always answer in numbers.\n',
    'AGENTS.md': 'Agents count from one.\n',
    '.clinerules/style.md': 'Cline rules are short.\n',
    [`${HOOKS}/PreToolUse`]: DENY_SECRETS,
    'deny.cjs': DENY_WORD,
    '.claude/settings.json': JSON.stringify({
      hooks: {
        PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'node deny.cjs' }] }],
      },
    }),
  });
  trust(workspace);
  return workspace;
}

function flags(provider: string, model: string, baseUrl: string): readonly string[] {
  return ['-P', provider, '-m', model, '--base-url', baseUrl];
}

describe.each(PROVIDERS)('%s', (provider, model, below, variable) => {
  async function runTask(workspace: TempWorkspace, service: Service) {
    return runHookline(
      [
        'run',
        'What is the answer?',
        ...flags(provider, model, `${service.url}${below}`),
        '--output',
        'stream-json',
        '--allow',
        'Bash(tr:*)',
      ],
      at(workspace, { env: { [variable]: KEY } }),
    );
  }

  it('does a task with text, calls, a denial by each kind of hook, a failure and an answer', async () => {
    const workspace = createWorkspaceWithHooks();
    const service = await startService(turnsIn(workspace));
    const result = await runTask(workspace, service);
    expect(result.code).toBe(0);
    expect(result.stderr).toContain('denied: Read: ');
    expect(result.stderr).toContain('Cline says no secrets');
    expect(result.stderr).toContain('denied: Bash: ');
    expect(result.stderr).toContain('Claude says not this word');
    checkRequests(service);
    checkLines(linesOf(result));
  });

  function checkRequests(service: Service): void {
    const requests = service.requests();
    expect(requests.map((request) => request.messages.length)).toEqual([1, 4, 6, 8, 10, 12]);
    expect(requests.map((request) => request.model)).toEqual(requests.map(() => model));
    for (const { system, tools } of requests) {
      expect(system).toContain('Always answer in numbers.');
      expect(system).toContain('Agents count from one.');
      expect(system).toContain('Cline rules are short.');
      expect(tools).toEqual(expect.arrayContaining(['Read', 'Write', 'Edit', 'Bash', 'Grep']));
    }
    const { messages = [] } = requests.at(-1) ?? {};
    expect(messages.map(({ role, calls }) => [role, ...calls].join(' '))).toEqual([
      'user',
      'assistant Read Glob',
      'tool',
      'tool',
      'assistant Read',
      'tool',
      'assistant Bash',
      'tool',
      'assistant Bash',
      'tool',
      'assistant Read',
      'tool',
    ]);
    expect(messages[0]?.text).toBe('What is the answer?');
    expect(messages[1]?.text).toBe('I look at it.');
    const [read, listed, denied, blocked, ran, absent] = messages
      .filter(({ role }) => role === 'tool')
      .map(({ text }) => text);
    expect(read).toContain('forty-two is near');
    expect(listed).toContain('CLAUDE.md');
    expect(denied).toContain('Cline says no secrets');
    expect(denied).not.toContain('hunter2');
    expect(blocked).toContain('Claude says not this word');
    expect(ran).toContain('FROM BASH');
    expect(absent).toContain('File does not exist.');
  }

  function checkLines(lines: readonly Line[]): void {
    const turn = ['turn-start', 'turn-end', 'message-end'];
    const call = ['tool-start', 'hook', 'tool-end'];
    const turnWithCalls = [...turn, 'tool-start', 'hook', 'tool-start', 'hook'];
    expect(lines.map(({ type }) => type).filter((type) => !type.endsWith('-delta'))).toEqual([
      'session-start',
      'run-start',
      ...turnWithCalls,
      'tool-end',
      'tool-end',
      ...Array.from({ length: 4 }, () => [...turn, ...call]).flat(),
      ...turn,
      'run-end',
      'session-end',
      'result',
    ]);
    const texts = lines.filter(({ type }) => type === 'text-delta').map(({ text }) => text);
    expect(texts.join('')).toBe('I look at it.The answer is 42.');
    expect(lines.at(-1)).toEqual({
      type: 'result',
      sessionId: lines[0]?.['sessionId'],
      runId: expect.any(String),
      status: 'completed',
      ending: 'done',
      text: 'The answer is 42.',
      reason: null,
      iterations: 6,
      usage: { inputTokens: 600, outputTokens: 60, cacheReadTokens: 0, cacheWriteTokens: 0 },
      costUsd: COSTS[provider] ?? null,
      durationMs: expect.any(Number),
      pluginIssues: [],
      denials: [
        expect.objectContaining({ tool: 'Read', reason: expect.stringContaining('no secrets') }),
        expect.objectContaining({ tool: 'Bash', reason: expect.stringContaining('this word') }),
      ],
      deferred: null,
    });
  }

  it('prints the answer and nothing else', async () => {
    const workspace = createTempWorkspace();
    const service = await startService([{ text: 'Hello.' }]);
    const commandArgs = ['run', 'hello', ...flags(provider, model, `${service.url}${below}`)];
    const result = await runHookline([...commandArgs, '--key', KEY], at(workspace));
    expect(result).toEqual({ code: 0, stdout: 'Hello.\n', stderr: '' });
  });

  it('sends the key of the flag, of the environment and of the configuration, in this order', async () => {
    const workspace = createTempWorkspace();
    let sentBody: unknown = null;
    const baseUrl = await rawService((response, { headers }) => {
      sentBody = headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers['authorization'];
      response.writeHead(400).end('{}');
    });
    const sentKey = async (args: readonly string[], env: Record<string, string>) => {
      const commandArgs = [
        'run',
        'hello',
        ...flags(provider, model, `${baseUrl}${below}`),
        ...args,
      ];
      const { code, stdout } = await runHookline(commandArgs, at(workspace, { env }));
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      return sentBody;
    };
    const matchKey = (key: string): unknown =>
      expect.stringMatching(new RegExp(`^(?:Bearer )?${key}$`));
    write(
      workspace.home,
      '.hookline/config.json',
      JSON.stringify({ model: { provider, key: 'of-config' } }),
    );
    expect(await sentKey([], {})).toEqual(matchKey('of-config'));
    expect(await sentKey(['--key', 'of-flag'], { [variable]: 'of-env' })).toEqual(
      matchKey('of-flag'),
    );
    write(workspace.home, '.hookline/config.json', '{}');
    expect(await sentKey([], { [variable]: 'of-env' })).toEqual(matchKey('of-env'));
  });
});

describe('a model that cannot be opened', () => {
  it.each([
    ['anthropic', 'Anthropic', 'ANTHROPIC_API_KEY'],
    ['openai', 'OpenAI', 'OPENAI_API_KEY'],
    ['gemini', 'Gemini', 'GEMINI_API_KEY'],
    ['openrouter', 'OpenRouter', 'OPENROUTER_API_KEY'],
  ])('says in one sentence that %s needs a key', async (provider, label, variable) => {
    const workspace = createTempWorkspace();
    expect(await runHookline(['run', 'hello', '-P', provider], at(workspace))).toEqual({
      code: 2,
      stdout: '',
      stderr: `hookline: no API key found for ${label} (${variable})\n  Set ${variable}, or "model.key" in the configuration, or pass --key; -P NAME chooses another provider.\n`,
    });
    expect(jsonOf(await runHookline(['sessions', 'list', '--json'], at(workspace)))).toEqual({
      sessions: [],
    });
  });

  it('suggests a similar provider', async () => {
    const workspace = createTempWorkspace();
    expect(await runHookline(['run', 'hello', '-P', 'antropic'], at(workspace))).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'hookline: unknown model provider "antropic"\n  Did you mean "anthropic"? Known providers: anthropic, openai, gemini, openai-compatible, openrouter, ollama, scripted, and 211 services by name (docs/reference/models.md).\n',
    });
  });

  it('says which flag is missing', async () => {
    const workspace = createTempWorkspace();
    const missing = async (...args: readonly string[]) =>
      runHookline(['run', 'hello', ...args], at(workspace));
    expect(await missing('-P', 'ollama')).toEqual({
      code: 2,
      stdout: '',
      stderr: `hookline: provider "ollama" requires a model
  Set it with --model or in the configuration. Models on this machine through Ollama; needs --model.
`,
    });
    expect(await missing('-P', 'openai-compatible', '-m', 'x')).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('requires a base URL\n  Set it with --base-url'),
    });
    expect(await missing('-P', 'scripted')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'hookline: provider "scripted" requires a script\n  Set its file with --script.\n',
    });
    expect(await missing('-P', 'ollama', '-m', 'x', '--base-url', 'localhost')).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('must begin with http:// or https://, found "localhost"'),
    });
  });

  it('keeps the key out of everything that it prints and stores', async () => {
    const workspace = createTempWorkspace();
    const service = await startService([{ text: `Your key is ${KEY}.` }]);
    service.mock.nextRequestError(401, { message: `the key ${KEY} is wrong` });
    const args = [...flags('anthropic', 'claude-haiku-4-5', service.url), '--key', KEY];
    const { code, stdout, stderr } = await runHookline(['run', 'hello', ...args], at(workspace));
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toBe(
      'failed: Anthropic rejected the API key (HTTP 401); set ANTHROPIC_API_KEY, or "model.key" in the configuration, or pass --key.\n',
    );
  });
});

describe('the key', () => {
  it('is withheld from hooks of the workspace, and not from the user’s own', async () => {
    const dump = (name: string) =>
      nodeHook(`
require('node:fs').writeFileSync('../${name}', JSON.stringify(process.env));
process.stdout.write('{}');`);
    const workspace = createTempWorkspace({ [`${HOOKS}/PreToolUse`]: dump('theirs') });
    write(workspace.home, 'Documents/Cline/Hooks/PreToolUse', dump('own'));
    trust(workspace);
    const service = await startService([
      { tools: [{ name: 'Glob', input: { pattern: '*' } }] },
      { text: 'Done.' },
    ]);
    const commandArgs = ['run', 'go', ...flags('anthropic', 'claude-haiku-4-5', service.url)];
    const env = { ANTHROPIC_API_KEY: KEY, OPENAI_API_KEY: KEY, OTHER: 'kept' };
    expect(await runHookline(commandArgs, at(workspace, { env }))).toMatchObject({ code: 0 });
    const readEnvironment = (name: string) =>
      JSON.parse(readFileSync(path.join(workspace.directory, name), 'utf8'));
    expect(readEnvironment('theirs')).toMatchObject({ OTHER: 'kept' });
    expect(JSON.stringify(readEnvironment('theirs'))).not.toContain(KEY);
    expect(readEnvironment('own')).toMatchObject(env);
  });
});

describe('hooks of other directories', () => {
  it('a hook of the user’s own home needs no trust', async () => {
    const workspace = createTempWorkspace();
    write(
      workspace.home,
      'Documents/Cline/Hooks/PreToolUse',
      answering({ cancel: true, errorMessage: 'never' }),
    );
    const service = await startService([
      { tools: [{ name: 'Bash', input: { command: 'echo hi' } }] },
      { text: 'Alas.' },
    ]);
    const args = [...flags('openai-compatible', 'gpt-4o', service.url)];
    const result = await runHookline(['run', 'hello', ...args], at(workspace));
    expect(result).toEqual({
      code: 0,
      stdout: 'Alas.\n',
      stderr: expect.stringContaining('never'),
    });
    expect(service.requests()[1]?.messages[2]?.text).toContain('never');
  });
});
