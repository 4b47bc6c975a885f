import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { isRecord } from '../../src/base/json.ts';
import { VERSION } from '../../src/base/version.ts';
import { hooklineProgram, runHookline } from '../cli/hookline.ts';

/**
 * What the commands print with `--json` on the examples, compared with `json-output/*.json`.
 * Programs read it: a difference is a change of the contract. `npm run record-json` writes the
 * recordings again; the diff is then read line by line, and each intended one is in the changelog.
 */
const PROJECT = path.resolve(import.meta.dirname, '../..');
const EXAMPLES = path.join(PROJECT, 'examples');

/** The words of one command line; `<session>` stands for the session that was used last. */
type CommandLine = readonly string[];

const FORCE_PUSH = ['--tool', 'Bash', '--input', '{"command":"git push --force && rm -rf build"}'];
const WRITE_FILE = ['--tool', 'write_to_file', '--input', '{"path":".env.js","content":"x"}'];

/** Every example answers these: first untrusted, then trusted. */
const BEFORE_TRUST: readonly CommandLine[] = [
  ['hooks', 'list'],
  ['hooks', 'explain', 'PreToolUse', ...FORCE_PUSH],
  ['plugin', 'list'],
  ['mcp', 'list'],
  ['doctor'],
  ['lock'],
  ['trust', '--yes'],
];
const AFTER_TRUST: readonly CommandLine[] = [
  ['hooks', 'list'],
  ['hooks', 'explain', 'PreToolUse', ...FORCE_PUSH],
  ['hooks', 'explain', 'PostToolUse', ...WRITE_FILE],
  ['hooks', 'fire', 'PreToolUse', ...FORCE_PUSH],
  ['hooks', 'fire', 'PreToolUse', ...WRITE_FILE],
  ['hooks', 'fire', 'UserPromptSubmit', '--prompt', 'hello'],
  ['hooks', 'stats'],
  ['plugin', 'list'],
  ['plugin', 'doctor'],
  ['mcp', 'list'],
  ['doctor'],
  ['lock'],
  ['lock', '--check'],
];

const SESSION: readonly CommandLine[] = [
  ['sessions', 'list'],
  ['sessions', 'show', '<session>'],
  ['hooks', 'stats'],
  ['sessions', 'rm', '<session>', '--yes'],
];

/** What only this example shows, after the commands that all answer. */
const FURTHER: Readonly<Record<string, readonly CommandLine[]>> = {
  'acp-editor': [
    ['run', '--output', 'json', '--script', '<example>/turns.json', 'write the service'],
    ['run', '--output', 'stream-json', '--script', '<example>/turns.json', 'write the service'],
    ...SESSION,
  ],
  'chat-with-hooks': [
    ['run', '--output', 'stream-json', '--script', 'turns.json', 'write notes and push'],
    ['untrust'],
    ['hooks', 'list'],
  ],
  'claude-hooks': [
    ['hooks', 'import', '--from', 'claude', '--dry-run'],
    ['hooks', 'list', '--plugin-dir', '<example>/plugin'],
    ['hooks', 'fire', 'PreToolUse', ...WRITE_FILE, '--plugin-dir', '<example>/plugin'],
    ['hooks', 'fire', '--as', 'claude', '--payload', '<payloads>/claude.json'],
    ['hooks', 'fire', '--as', 'cline', '--payload', '<payloads>/cline.json'],
    ['hooks', 'disable', 'claude:project:PreToolUse:guard.sh'],
    ['hooks', 'list'],
    ['hooks', 'enable', 'claude:project:PreToolUse:guard.sh'],
    ['hooks', 'import', '--from', 'claude', '--yes'],
    ['hooks', 'list'],
    ['hooks', 'rm', 'claude:project:PostToolUse:format.mjs', '--yes'],
    ['hooks', 'list'],
  ],
  'cline-plugin': [
    ['run', '--output', 'json', '--script', 'turns.json', '--allow', 'count_words', 'count'],
    ['run', '--output', 'stream-json', '--script', 'turns.json', 'count, then push'],
    ...SESSION,
    ['plugin', 'list', '--no-load'],
    ['plugin', 'doctor', '--no-load'],
    ['plugin', 'validate', 'team-tools', '--yes'],
    ['plugin', 'disable', 'branch-guard'],
    ['plugin', 'list'],
    ['plugin', 'enable', 'branch-guard'],
    ['plugin', 'install', '<example>/workspace/.cline/plugins/team-tools', '--cwd', '<workspace>'],
    ['plugin', 'update', '--dry-run'],
    ['plugin', 'uninstall', 'branch-guard', '--yes'],
    ['plugin', 'list'],
    ['untrust'],
  ],
  'mcp-server': [
    ['run', '--output', 'stream-json', '--script', '<example>/turns.json', 'What do we need?'],
    ['mcp', 'add', 'more', '--scope', 'project', '--env', 'A=b', '--', 'node', 'more.mjs'],
    ['mcp', 'add', 'far', '--url', 'https://mcp.example.com', '--header', 'X-A:b'],
    ['mcp', 'rm', 'notes', '--scope', 'project'],
    ['mcp', 'list'],
  ],
  'test-your-hooks': [
    ['hooks', 'test'],
    ['hooks', 'test', 'recorded', '--record', 'PreToolUse', ...FORCE_PUSH],
    ['hooks', 'test', 'recorded'],
    ['hooks', 'test', 'traced', '--record-trace', 'last'],
  ],
  'typescript-only': [
    ['hooks', 'new', 'PreToolUse', '--dialect', 'cline', '--lang', 'bash', '--force'],
    ['hooks', 'new', 'Stop', '--dialect', 'claude', '--lang', 'python'],
    ['hooks', 'new', '--dialect', 'plugin', '--lang', 'ts'],
    ['hooks', 'list'],
    ['demo'],
  ],
};

const NAMES = [
  'acp-editor',
  'agent-with-guards',
  'chat-with-hooks',
  'claude-hooks',
  'cline-plugin',
  'embed-engine',
  'mcp-server',
  'sdk-session',
  'test-your-hooks',
  'typescript-only',
];

const PAYLOADS = {
  'claude.json': {
    session_id: 'theirs',
    transcript_path: '/tmp/transcript.jsonl',
    cwd: '/tmp',
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'rm -rf build' },
  },
  'cline.json': {
    clineVersion: '3.36.0',
    hookName: 'PreToolUse',
    timestamp: '1700000000000',
    taskId: 'theirs',
    workspaceRoots: ['/tmp'],
    userId: 'nobody',
    preToolUse: { toolName: 'execute_command', parameters: { command: 'rm -rf build' } },
  },
};

describe.each(NAMES)('the JSON of every command on the example %s', (example) => {
  it('is as recorded', async () => {
    const ownWorkspace = createJsonWorkspace(example);
    try {
      const recorded: Recorded[] = [];
      for (const commandArgs of [...BEFORE_TRUST, ...AFTER_TRUST, ...(FURTHER[example] ?? [])]) {
        recorded.push(await runCommand(commandArgs, ownWorkspace));
      }
      const file = path.join(import.meta.dirname, 'json-output', `${example}.json`);
      const text = JSON.stringify(replaceVolatile(recorded, ownWorkspace), null, 2);
      await expect(`${text}\n`).toMatchFileSnapshot(file);
    } finally {
      rmSync(ownWorkspace.directory, { recursive: true, force: true });
    }
  });
});

interface Place {
  readonly directory: string;
  readonly workspace: string;
  readonly home: string;
  readonly example: string;
}

interface Recorded {
  readonly command: string;
  readonly exitCode: number | null;
  /** One value, or one per line for stream-json; empty when it printed none. */
  readonly output: unknown;
}

function createJsonWorkspace(name: string): Place {
  const directory = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hookline-json-')));
  const example = path.join(EXAMPLES, name);
  const workspace = path.join(directory, 'workspace');
  cpSync(path.join(example, 'workspace'), workspace, { recursive: true });
  for (const folder of ['home', 'payloads']) mkdirSync(path.join(directory, folder));
  for (const [file, payload] of Object.entries(PAYLOADS)) {
    writeFileSync(path.join(directory, 'payloads', file), JSON.stringify(payload));
  }
  return { directory, workspace, home: path.join(directory, 'home'), example };
}

async function runCommand(words: CommandLine, place: Place): Promise<Recorded> {
  const args: string[] = [];
  for (const word of words) {
    const isSession = word === '<session>';
    args.push(isSession ? await findLastSession(place) : expandPlaceholders(word, place));
  }
  const separator = args.indexOf('--');
  args.splice(separator < 0 ? args.length : separator, 0, ...(args[0] === 'run' ? [] : ['--json']));
  const { code, stdout } = await runHookline(args, { cwd: place.workspace, home: place.home });
  const isStream = words.includes('stream-json');
  const parse = (text: string): unknown => JSON.parse(text);
  const output = isStream ? stdout.trimEnd().split('\n').map(parse) : parse(stdout || 'null');
  return { command: words.join(' '), exitCode: code, output };
}

async function findLastSession({ workspace, home }: Place): Promise<string> {
  const { stdout } = await runHookline(['sessions', 'list', '--json'], { cwd: workspace, home });
  return JSON.parse(stdout).sessions[0].id;
}

function expandPlaceholders(word: string, { directory, workspace, example }: Place): string {
  return word
    .replace('<example>', example)
    .replace('<workspace>', workspace)
    .replace('<payloads>', path.join(directory, 'payloads'));
}

const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z|\b1\d{12}(?:\.\d+)?\b/gu;
const UUID = /\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/u;
const ULID = /\b[0-7][\dA-HJKMNP-TV-Z]{25}\b/u;
const MESSAGE_ID = /\bmsg_[\da-f]{32}\b/u;
const ID = new RegExp([UUID, ULID, MESSAGE_ID].map(({ source }) => source).join('|'), 'gu');
const DURATION = /\b\d+(?:\.\d+)? m?s\b/gu;
const PROGRAM = /\bv?\d+(?:\.\d+)+ at \S+/gu;
/** Installed plugins are named after the path that they came from. */
const SOURCE_HASH = /(?<=\/_installed\/\w+\/[\w-]+-)[\da-f]{12}\b/gu;
/** How many tokens go in depends on the length of the temporary paths, how many warnings on the machine's programs. */
const VOLATILE_NUMBER = /Ms$|At$|^at$|^inputTokens$|^warnings$/u;

/** The same on every machine and at every time. Each id is numbered by where it first stands. */
function replaceVolatile(value: unknown, place: Place): unknown {
  const ids = new Map<string, string>();
  const replaceId = (id: string): string => {
    const name = ids.get(id) ?? `<id ${ids.size + 1}>`;
    ids.set(id, name);
    return name;
  };
  const replaceText = (text: string): string =>
    insertPlaceholders(text, place)
      .replaceAll(TIME, '<time>')
      .replaceAll(ID, replaceId)
      .replaceAll(DURATION, '<duration>')
      .replaceAll(PROGRAM, '<version> at <program>')
      .replaceAll(SOURCE_HASH, '<hash>')
      .replaceAll(VERSION, '<version>');
  const replace = (each: unknown, key: string): unknown => {
    if (typeof each === 'string') return replaceText(each);
    if (typeof each === 'number') return VOLATILE_NUMBER.test(key) ? 0 : each;
    if (Array.isArray(each)) return orderRows(each).map((item) => replace(item, key));
    if (!isRecord(each)) return each;
    if (key === 'slowest') return '<one of its outcomes>';
    return Object.fromEntries(
      Object.entries(each).map(([name, item]) => [replaceText(name), replace(item, name)]),
    );
  };
  return replace(value, '');
}

/** `hooks stats` sorts by duration, and `doctor` lists the programs of this machine. */
function orderRows(rows: readonly unknown[]): readonly unknown[] {
  const getHook = (row: unknown): string => (isRecord(row) ? String(row['hook']) : '');
  const isStatistics = rows.some((row) => isRecord(row) && 'p95Ms' in row);
  if (isStatistics) return rows.toSorted((a, b) => (getHook(a) < getHook(b) ? -1 : 1));
  return rows.filter((row) => !(isRecord(row) && row['about'] === 'programs'));
}

function insertPlaceholders(text: string, { directory, workspace, home, example }: Place): string {
  return text
    .replaceAll(workspace, '<workspace>')
    .replaceAll(home, '<home>')
    .replaceAll(directory, '<directory>')
    .replaceAll(example, '<example>')
    .replaceAll(path.dirname(path.dirname(hooklineProgram())), '<dist>')
    .replaceAll(PROJECT, '<project>')
    .replaceAll(process.execPath, '<node>');
}
