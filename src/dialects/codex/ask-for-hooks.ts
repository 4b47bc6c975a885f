import type { ChildProcess } from 'node:child_process';
import { isRecord, parseJson } from '../../base/json.ts';
import { createTreeEnder } from '../../process/end-tree.ts';
import { copyEnvironment } from '../../process/environment.ts';
import { createProgramFinder } from '../../process/program-finder.ts';
import { spawnChild } from '../../process/spawn.ts';
import { cleanSearchPath, listUntrustedDirectories } from '../../process/search-path.ts';
import { VERSION } from '../../base/version.ts';
import type { InstallPlace } from '../install.ts';
import { readNested } from '../install-settings.ts';

/** A hook as Codex's server lists it. */
export interface CodexHook {
  readonly command: string;
  readonly sourcePath: string;
  readonly enabled: boolean;
  /** `trusted`, `untrusted`, `modified` or `managed`. */
  readonly trustStatus: string;
}

const TIME_LIMIT_MS = 10_000;

/** Asks Codex's server which hooks it has here; null when there is no Codex or it does not answer. */
export async function askForHooks({
  surroundings,
  project,
}: Pick<InstallPlace, 'surroundings' | 'project'>): Promise<readonly CodexHook[] | null> {
  const { env, platform, home } = surroundings;
  const directories = cleanSearchPath(
    env['PATH'],
    listUntrustedDirectories([project], home),
    platform,
  );
  const program = createProgramFinder(directories, platform, env['PATHEXT'])('codex');
  if (program === null) return null;
  const child = spawnChild({
    file: program,
    args: ['app-server'],
    cwd: project,
    env: copyEnvironment(env),
  });
  const tree = child.pid === undefined ? null : createTreeEnder(child.pid);
  try {
    return parseHooks(await requestHooks(child, project));
  } finally {
    tree?.end('SIGKILL');
  }
}

const LIST_ID = 2;

/** Sends the greeting and the question, and waits for the answer to the latter. */
function requestHooks(child: ChildProcess, project: string): Promise<unknown> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), TIME_LIMIT_MS);
    const finish = (answer: unknown): void => {
      clearTimeout(timer);
      resolve(answer);
    };
    let text = '';
    child.on('error', () => finish(null));
    child.on('close', () => finish(null));
    child.stdin?.on('error', () => finish(null));
    child.stderr?.resume();
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      const answer = lines
        .map(parseMessage)
        .find((message) => readNested(message, 'id') === LIST_ID);
      if (answer !== undefined) finish(readNested(answer, 'result'));
    });
    const clientInfo = { name: 'hookline', version: VERSION };
    const messages = [
      { id: 1, method: 'initialize', params: { clientInfo } },
      { method: 'initialized' },
      { id: LIST_ID, method: 'hooks/list', params: { cwds: [project] } },
    ];
    child.stdin?.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
  });
}

function parseMessage(line: string): unknown {
  const parsed = parseJson(line);
  return parsed.ok ? parsed.value : null;
}

function parseHooks(result: unknown): readonly CodexHook[] | null {
  const data = readNested(result, 'data');
  if (!Array.isArray(data)) return null;
  return data.flatMap((each) => readNested(each, 'hooks')).flatMap(parseHook);
}

function parseHook(value: unknown): readonly CodexHook[] {
  if (!isRecord(value)) return [];
  const { command, sourcePath, enabled, trustStatus } = value;
  if (typeof command !== 'string' || typeof sourcePath !== 'string') return [];
  return [
    {
      command,
      sourcePath,
      enabled: enabled !== false,
      trustStatus: typeof trustStatus === 'string' ? trustStatus : 'unknown',
    },
  ];
}
