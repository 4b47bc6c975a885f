import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type RealAgent, readVersion } from './agents.ts';
import { startModelService } from './model-service.ts';

const HOOKLINE = path.resolve(import.meta.dirname, '../dist/bin/hookline.js');
const TASK_LIMIT_MS = 180_000;
const MADE = 'made.txt';

/** What one real agent did, and what Hookline recorded of it. */
export interface MeasuredAgent {
  readonly agent: string;
  readonly version: string;
  /** Canonical names of the recorded events, in order, each once. */
  readonly events: readonly string[];
  /** Canonical names of the tools that the events name. */
  readonly tools: readonly string[];
}

/** Where one agent works: an empty home and a repository. */
interface Place {
  readonly home: string;
  readonly workspace: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Lets a real agent do one task with our hooks installed; a string says why it could not be measured. */
export async function measureAgent(agent: RealAgent): Promise<MeasuredAgent | string> {
  const version = readVersion(agent);
  if (version === null || !existsSync(agent.program)) return 'it is not installed';
  const base = mkdtempSync(path.join(os.tmpdir(), `hookline-interop-${agent.name}-`));
  const model = await startModelService({ command: `echo hi > ${MADE}` });
  try {
    const place = createPlace(base, agent, model.url);
    agent.configure(place.home, model.url);
    for (const args of agent.setUp(model.url)) await run(agent.program, args, place);
    const enabled = runHookline(['agents', 'enable', agent.name], place);
    if (enabled.status !== 0) return `hooks could not be installed: ${enabled.stderr.trim()}`;
    const { output } = await run(agent.program, agent.taskArgs, place);
    if (!existsSync(path.join(place.workspace, MADE))) {
      return `it did not run the command:\n${output.slice(-2000)}`;
    }
    return { agent: agent.name, version, ...readEvents(agent, place) };
  } finally {
    await model.close();
    rmSync(base, { recursive: true, force: true });
  }
}

function createPlace(base: string, agent: RealAgent, modelUrl: string): Place {
  const home = path.join(base, 'home');
  const workspace = path.join(base, 'workspace');
  for (const directory of [home, workspace]) mkdirSync(directory);
  spawnSync('git', ['init', '-q', '.'], { cwd: workspace });
  const PATH = [path.dirname(agent.program), process.env['PATH']].join(path.delimiter);
  return { home, workspace, env: { PATH, HOME: home, TERM: 'dumb', ...agent.env(modelUrl) } };
}

function runHookline(args: readonly string[], { workspace, env }: Place) {
  const options = { cwd: workspace, env, encoding: 'utf8' } as const;
  return spawnSync(process.execPath, [HOOKLINE, ...args], options);
}

/** Runs a program to its end, or to its time limit, in a process group of its own. */
function run(
  file: string,
  args: readonly string[],
  { workspace, env }: Place,
): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd: workspace,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const add = (chunk: Buffer): void => void (output += chunk.toString('utf8'));
    child.stdout.on('data', add);
    child.stderr.on('data', add);
    const timer = setTimeout(() => endGroup(child.pid), TASK_LIMIT_MS);
    child.once('close', (code) => {
      clearTimeout(timer);
      endGroup(child.pid);
      resolve({ code, output });
    });
    child.once('error', (error) => resolve({ code: null, output: error.message }));
  });
}

function endGroup(leader: number | undefined): boolean {
  try {
    return leader !== undefined && process.kill(-leader, 'SIGKILL');
  } catch {
    // It has ended with everything that it started.
    return false;
  }
}

function readEvents({ name }: RealAgent, place: Place): Pick<MeasuredAgent, 'events' | 'tools'> {
  runHookline(['bridge', 'drain'], place);
  const { stdout } = runHookline(['trace', 'export', '--agent', name, '--json'], place);
  const events = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Readonly<Record<string, unknown>> => JSON.parse(line));
  return { events: collectTexts(events, 'event'), tools: collectTexts(events, 'tool') };
}

function collectTexts(
  events: readonly Readonly<Record<string, unknown>>[],
  key: string,
): readonly string[] {
  const texts = events.map((event) => event[key]).filter((text) => typeof text === 'string');
  return [...new Set(texts)];
}
