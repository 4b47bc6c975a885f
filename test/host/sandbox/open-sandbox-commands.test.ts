import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { unzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { prepareLaunch, type OpenedSandbox } from '../../../src/agent/tools/shell/shell-launch.ts';
import { getErrorCode } from '../../../src/base/errors.ts';
import { DIALECTS } from '../../../src/dialects/index.ts';
import { openHooks } from '../../../src/host/open-hooks.ts';
import { openPermissions } from '../../../src/host/open-permissions.ts';
import { openSandbox } from '../../../src/host/sandbox/open-sandbox.ts';
import { HIDDEN_IN_HOME } from '../../../src/host/sandbox/places.ts';
import { runProgram } from '../../../src/process/run.ts';
import { runInSandbox } from '../../../src/process/sandbox/run-in-sandbox.ts';
import { write } from '../../base/directory.ts';
import {
  COMMAND_FILES,
  COMMAND_RULES,
  COMMAND_TABLE,
  createCommandLinks,
} from '../../permissions/command-table.ts';
import { createTempWorkspace } from '../temp-workspace.ts';

/** How many commands run at a time, each in a workspace of its own. */
const LANES = 2;
/** From the moment the command begins; one that is cut short has done what it could. */
const COMMAND_LIMIT_MS = 5000;
const BEGUN = 'the command begins';

/** Ways to what the table does not name: the home directory, sockets, and what steers agents. */
const MORE_COMMANDS: readonly string[] = [
  'cat ~/.ssh/* ~/.aws/* ~/.netrc ~/.docker/*',
  'grep -rs . ~ .',
  'tar cf - ~ . | cat',
  'for s in $(find ~ ../beside -type s); do node -e "require(\'net\').connect(process.argv[1])" $s; done',
  'node -e "require(\'net\').connect(process.argv[1])" ~/.docker/docker.sock',
  'node -e "require(\'net\').connect(process.argv[1])" ../beside/agent.sock',
  'echo x > ~/.bashrc; echo x > ../beside/notes.txt; touch ~/new ../beside/new',
  'mkdir -p .claude .hookline .git/hooks; for f in .claude/settings.json .mcp.json .hookline/config.json .git/hooks/pre-commit .git/config; do echo x > $f; done',
  'rm -rf .git .claude .hookline; mv .git x; mv .claude y; mv locked z; ln -sfn /etc .claude',
];

const ALL_COMMANDS = [...COMMAND_TABLE.map(({ command }) => command), ...MORE_COMMANDS];

/** What a command did that the sandbox promises to prevent. */
interface Breach {
  readonly command: string;
  readonly what: string;
}

test(`no command of the table gets round the sandbox`, { timeout: 20 * 60_000 }, async () => {
  const lanes = await Promise.all(Array.from({ length: LANES }, () => openLane()));
  const queue = ALL_COMMANDS.values();
  const breaches = await Promise.all(lanes.map((lane) => runQueue(lane, queue)));
  expect(breaches.flat()).toEqual([]);
});

test.each([
  ['cat .env', 'read .env'],
  ['tr a b < secrets/sub/x', 'read secrets/sub/x'],
  ['od -c .env', 'read .env'],
  ['xxd .env', 'read .env'],
  ['rev secrets/key', 'read secrets/key'],
  ['base64 -w0 < secrets/key', 'read secrets/key'],
  ['tar czf x.tgz .', 'read secrets/key'],
  ['git hash-object -w .env', 'read .env'],
  ['cat ~/.ssh/*', 'read ~/.ssh'],
  ['rm -r locked', 'changed ws/locked'],
  ['mv locked x', 'changed ws/locked'],
  ['mkdir .hookline', 'changed ws/.hookline'],
  ['touch .git/hooks/pre-commit', 'changed ws/.git/hooks/pre-commit'],
  ['cp -r . /tmp/all', 'changed beside/all'],
  ['touch ~/.bashrc', 'changed home/.bashrc'],
  [
    'node -e "require(\'net\').connect(process.argv[1]).end()" ~/.docker/docker.sock',
    'reached a socket',
  ],
])('outside of the sandbox it is noticed that %s', async (command, what) => {
  const lane = await openLane();
  const { found } = await runRow({ ...lane, sandbox: null }, command, readTree(lane.base));
  expect(found.map((breach) => breach.what)).toContain(what);
});

/** A machine of its own, on which one command runs at a time. */
interface Lane {
  readonly base: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  /** Null for a check of the checks themselves. */
  readonly sandbox: OpenedSandbox | null;
  readonly secrets: readonly Secret[];
  countConnections(): number;
}

async function openLane(): Promise<Lane> {
  const { base, home, root, surroundings } = createTempWorkspace({ 'beside/notes.txt': 'beside' });
  const secrets = [...plantInHome(home), ...fillWorkspace(root)];
  const docker = path.join(home, '.docker/docker.sock');
  const agent = path.join(base, 'beside/agent.sock');
  const counts = [await countConnectionsOn(docker), await countConnectionsOn(agent)];
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    TERM: 'dumb',
    SSH_AUTH_SOCK: agent,
    DOCKER_HOST: `unix://${docker}`,
    // Without a network, trying again only takes time.
    npm_config_fetch_retries: '0',
    PIP_RETRIES: '0',
  };
  return {
    base,
    root,
    env,
    sandbox: await enterSession({ ...surroundings, env }, root),
    secrets,
    countConnections: () => counts.reduce((sum, count) => sum + count(), 0),
  };
}

/** The sandbox of a session with the rules of the table. */
async function enterSession(
  surroundings: Parameters<typeof openHooks>[0]['surroundings'] & object,
  root: string,
): Promise<OpenedSandbox> {
  const flags = { 'sandbox.network': 'off' } as const;
  const opened = openHooks({ surroundings, roots: [root], flags });
  const { permissions } = openPermissions(opened, {
    allow: listRules('allow'),
    deny: listRules('deny'),
  });
  const session = await openSandbox({ opened, permissions, mode: 'on', notice: () => undefined });
  onTestFinished(() => session.close());
  const sandbox = await session.open();
  if (sandbox === null || typeof sandbox === 'string') throw new NoSandbox(sandbox ?? 'none works');
  return sandbox;
}

class NoSandbox extends Error {
  override readonly name = 'NoSandbox';
}

function listRules(behavior: string): readonly string[] {
  const lines = COMMAND_RULES.filter((line) => line.startsWith(`${behavior} `));
  return lines.map((line) => line.slice(behavior.length + 1));
}

/** A text that only one hidden file has, short enough for one line of a hex dump. */
interface Secret {
  readonly name: string;
  readonly text: string;
  /** The text in the spellings in which programs print it, without spaces and in lower case. */
  readonly spellings: readonly string[];
}

function createSecret(name: string): Secret {
  // Neither a nor b, which commands of the table replace.
  const letters = [...createHash('sha256').update(name).digest()].slice(0, 10);
  const token = letters.map((byte) => 'GHJKMNPQRSTVWXYZ'[byte % 16]).join('');
  const text = `KEY=${token}\n`;
  const spellings = [
    token,
    token.split('').toReversed().join(''),
    Buffer.from(text).toString('base64').slice(0, 16),
    Buffer.from(token).toString('hex'),
  ];
  return { name, text, spellings: spellings.map((each) => each.toLowerCase()) };
}

/** Names with an ending are files, except of directories that have one. */
function plantInHome(home: string): readonly Secret[] {
  const hiddenFiles = /\.(?:netrc|pypirc|git-credentials|vault-token|json|toml)$|\/credentials$/;
  const names = HIDDEN_IN_HOME.filter((name) => !name.includes('hookline'));
  return names.map((name) => {
    const secret = createSecret(`~/${name}`);
    write(path.join(home, hiddenFiles.test(name) ? name : `${name}/key`), secret.text);
    return secret;
  });
}

const HIDDEN_IN_WORKSPACE = ['.env', 'secrets/key', 'secrets/sub/x'];

/** All but what is hidden is committed, and what is locked differs from what was committed. */
function fillWorkspace(root: string): readonly Secret[] {
  for (const [name, text] of Object.entries(COMMAND_FILES)) write(path.join(root, name), text);
  write(path.join(root, '.claude/settings.json'), '{}\n');
  chmodSync(path.join(root, 'scripts/build.sh'), 0o755);
  chmodSync(path.join(root, 'push.sh'), 0o755);
  createCommandLinks(root);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: root });
  git('init', '-q');
  git('add', '--', 'README.md', 'locked', 'notes', 'package.json', 'push.sh', 'scripts', 'src');
  git('commit', '-q', '-m', 'one');
  write(path.join(root, 'locked/a.txt'), 'locked since\n');
  return HIDDEN_IN_WORKSPACE.map((name) => {
    const secret = createSecret(name);
    write(path.join(root, name), secret.text);
    return secret;
  });
}

async function countConnectionsOn(socket: string): Promise<() => number> {
  let count = 0;
  const server = createServer((connection) => {
    count += 1;
    connection.destroy();
  });
  await new Promise<void>((resolve) => void server.listen(socket, resolve));
  onTestFinished(() => void server.close());
  return () => count;
}

async function runQueue(lane: Lane, queue: Iterator<string>): Promise<readonly Breach[]> {
  const breaches: Breach[] = [];
  let before = readTree(lane.base);
  for (let next = queue.next(); next.done !== true; next = queue.next()) {
    const { found, after } = await runRow(lane, next.value, before);
    breaches.push(...found);
    restoreWorkspace(lane.base, before, after);
    before = readTree(lane.base, before);
  }
  return breaches;
}

/** Runs a command and says what it broke. */
async function runRow(
  lane: Lane,
  row: string,
  before: Tree,
): Promise<{ readonly found: readonly Breach[]; readonly after: Tree }> {
  // What goes to the shared temporary directory goes to one that nobody else writes.
  const command = row.replaceAll('/tmp/', `${lane.base}/beside/`);
  const connections = lane.countConnections();
  const output = await runUntilBegun(lane, command);
  const after = readTree(lane.base, before);
  const changes = listChanges(before, after);
  const written = changes.flatMap((name) => after.get(name)?.content ?? []);
  const found = [
    ...(output.includes(BEGUN) ? [] : [`did not begin: ${output}`]),
    ...changes.filter(isGuarded).map((name) => `changed ${name}`),
    ...(lane.countConnections() === connections ? [] : ['reached a socket']),
    ...listReadSecrets(lane, [Buffer.from(output), ...written]).map((name) => `read ${name}`),
  ];
  return { found: found.map((what) => ({ command: row, what })), after };
}

/** A busy machine may not hand over what was printed in time. */
async function runUntilBegun(lane: Lane, command: string): Promise<string> {
  let output = '';
  for (let attempt = 0; attempt < 10; attempt += 1) {
    output = await runCommand(lane, command);
    if (output.includes(BEGUN)) break;
  }
  return output;
}

async function runCommand({ root, env, sandbox }: Lane, command: string): Promise<string> {
  const launch = prepareLaunch({ command, cwd: root, env, prelude: `echo ${BEGUN}` }, sandbox);
  if (typeof launch === 'string') return launch;
  const limit = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onOutput = (): void => {
    timer ??= setTimeout(() => limit.abort(), COMMAND_LIMIT_MS);
  };
  const program = {
    ...launch.program,
    stdin: '',
    timeoutMs: 240_000,
    killGraceMs: 200,
    exitGraceMs: 2000,
  };
  const options = { signal: limit.signal, onOutput };
  const { sandboxed } = launch;
  const result = await (sandboxed === null
    ? runProgram(program, options)
    : runInSandbox(program, sandboxed, options));
  clearTimeout(timer);
  launch.dispose();
  return `${result.stdout.text}${result.stderr.text}`;
}

interface Entry {
  /** From above the workspace and the home directory. */
  readonly name: string;
  readonly kind: 'directory' | 'file' | 'link' | 'special';
  readonly mode: number;
  /** Of a file it changes with every write; directories get placeholders in passing. */
  readonly version: string;
  readonly content: Buffer;
}

type Tree = ReadonlyMap<string, Entry>;

/** All below a directory, parents first; what did not change since `known` is not read again. */
function readTree(base: string, known: Tree = new Map()): Tree {
  const tree = new Map<string, Entry>();
  const visit = (name: string): void => {
    const entry = readEntry(base, name, known);
    tree.set(name, entry);
    if (entry.kind !== 'directory') return;
    for (const child of listChildren(path.join(base, name))) visit(path.join(name, child));
  };
  for (const name of readdirSync(base)) visit(name);
  return tree;
}

/** None of a directory that may not be read: the placeholder over hidden places, for any user but root. */
function listChildren(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (getErrorCode(error) === 'EACCES') return [];
    throw error;
  }
}

function readEntry(base: string, name: string, known: Tree): Entry {
  const file = path.join(base, name);
  const stats = lstatSync(file, { bigint: true });
  const kind = findKind(stats);
  const changed = kind === 'directory' ? '' : stats.ctimeNs;
  const version = `${kind} ${stats.ino} ${stats.mode} ${changed}`;
  const same = known.get(name);
  if (same?.version === version) return same;
  const mode = Number(stats.mode) & 0o7777;
  return { name, kind, mode, version, content: readContent(file, kind, mode) };
}

function findKind(stats: {
  isDirectory(): boolean;
  isFile(): boolean;
  isSymbolicLink(): boolean;
}): Entry['kind'] {
  if (stats.isDirectory()) return 'directory';
  if (stats.isSymbolicLink()) return 'link';
  return stats.isFile() ? 'file' : 'special';
}

function readContent(file: string, kind: Entry['kind'], mode: number): Buffer {
  if (kind === 'file' && mode !== 0) return readFileSync(file);
  return Buffer.from(kind === 'link' ? readlinkSync(file) : '');
}

/** What steers agents and git, and what the rules of the table lock and hide. */
const GUARDED_IN_WORKSPACE: readonly string[] = [
  '.hookline',
  '.env',
  'secrets',
  'locked',
  ...['config', 'hooks', 'info/attributes', 'commondir'].map((name) => `.git/${name}`),
  ...DIALECTS.flatMap(({ ownPaths }) => ownPaths?.protected ?? [])
    .filter((name) => name.startsWith('.') && !name.includes('*'))
    .map((name) => name.replace(/\/$/, '')),
];

/** Hookline itself keeps there what its sandboxes need. */
const OWN_STATE = 'home/.hookline';

function isGuarded(name: string): boolean {
  if (isAtOrIn(OWN_STATE, name)) return false;
  if (name === 'ws' || !isAtOrIn('ws', name)) return true;
  return GUARDED_IN_WORKSPACE.some((guarded) => isAtOrIn(`ws/${guarded}`, name));
}

function isAtOrIn(directory: string, name: string): boolean {
  return name === directory || name.startsWith(`${directory}/`);
}

function listChanges(before: Tree, after: Tree): readonly string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name)?.version !== after.get(name)?.version);
}

/** Looks at what was printed, and at what was written, also when it is compressed. */
function listReadSecrets({ secrets }: Lane, texts: readonly Buffer[]): readonly string[] {
  const plain = texts.flatMap((text) => [text, unpack(text)]);
  const printed = plain.map((text) => text.toString('latin1').replaceAll(/\s/g, '').toLowerCase());
  return secrets
    .filter(({ spellings }) =>
      printed.some((text) => spellings.some((each) => text.includes(each))),
    )
    .map(({ name }) => name);
}

function unpack(text: Buffer): Buffer {
  try {
    return unzipSync(text);
  } catch {
    return Buffer.alloc(0);
  }
}

/** Removes what is new or changed, and writes what is then missing. */
function restoreWorkspace(base: string, wanted: Tree, found: Tree): void {
  const inWorkspace = (name: string): boolean => name.startsWith('ws/');
  for (const name of listChanges(wanted, found).filter(inWorkspace)) {
    rmSync(path.join(base, name), { recursive: true, force: true });
  }
  for (const entry of [...wanted.values()].filter(({ name }) => inWorkspace(name))) {
    const file = path.join(base, entry.name);
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) createEntry(file, entry);
  }
}

function createEntry(file: string, { kind, mode, content }: Entry): void {
  if (kind === 'link') return symlinkSync(content.toString(), file);
  if (kind === 'directory') mkdirSync(file);
  else writeFileSync(file, content);
  chmodSync(file, mode);
}
