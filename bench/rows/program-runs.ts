import { cpSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ScriptTurn } from '../../src/agent/models/scripted.ts';
import { spawnBare } from '../bare.ts';
import type { Task } from '../measure.ts';
import { type ModelService, startModelService } from '../model-service.ts';
import { openPeerProgram } from '../peer.ts';
import { createTempWorkspace, type TempWorkspace } from '../temp-workspace.ts';
import { DONE, storeSession, writeFiles } from '../reading.ts';
import type { Contest, Row, RowOptions } from '../row.ts';

/** How long a user waits for the built program to do a task whose model takes no time. */
export const programRows: readonly Row[] = [
  {
    name: 'hookline run --script, three turns (Read, Bash, answer)',
    bound: { of: 'ratio', atMost: 4, because: 'the whole process, against `node -e 0`' },
    open: openScripted,
  },
  {
    name: 'resume of a 2,000-turn session (hookline run --resume)',
    bound: { of: 'ms', atMost: 500, because: 'the whole process, with one answer' },
    open: openResumed,
  },
];

/** The same task in both programs, each of which asks a service on this machine. */
export const peerProgramRows: readonly Row[] = [
  {
    name: 'hookline run, three turns, beside the cline program',
    bound: { of: 'peer', atMost: 0.5, because: 'the whole process, both over the same service' },
    open: openBesidePeer,
  },
];

const PROMPT = 'read one.js, run echo, and answer';
const COMMAND = 'echo hello';
const THREE_TURNS: readonly ScriptTurn[] = [
  { tools: [{ name: 'Read', input: { file_path: 'one.js' } }] },
  { tools: [{ name: 'Bash', input: { command: COMMAND } }] },
  { text: DONE },
];

async function openScripted(options: RowOptions): Promise<Contest> {
  const place = createTempWorkspace();
  writeFiles(place);
  const script = writeTurns(place, THREE_TURNS);
  const us = await hookline(place, options, ['run', '--script', script, PROMPT]);
  return {
    samples: options.quick ? 30 : 100,
    batch: 1,
    us,
    bare: node(place, ['-e', '0']),
    async close() {
      place.remove();
    },
  };
}

function writeTurns({ home }: TempWorkspace, turns: readonly ScriptTurn[]): string {
  const script = path.join(home, 'script.json');
  writeFileSync(script, JSON.stringify(turns));
  return script;
}

const STORED_TURNS = 2000;

async function openResumed(options: RowOptions): Promise<Contest> {
  const place = createTempWorkspace();
  writeFiles(place);
  const { id, directory } = storeSession(place, STORED_TURNS);
  const original = path.join(place.home, 'original');
  cpSync(directory, original, { recursive: true });
  // Every run makes the session longer.
  const restore = async (): Promise<void> => {
    rmSync(directory, { recursive: true });
    cpSync(original, directory, { recursive: true });
  };
  const script = writeTurns(place, [{ text: DONE }]);
  const us = await hookline(place, options, ['run', '--script', script, '--resume', id, PROMPT]);
  await restore();
  return {
    samples: options.quick ? 10 : 60,
    batch: 1,
    us,
    bare: node(place, ['-e', '0']),
    settle: restore,
    async close() {
      place.remove();
    },
  };
}

async function openBesidePeer(options: RowOptions): Promise<Contest> {
  const place = createTempWorkspace();
  writeFiles(place);
  const file = path.join(place.workspace, 'one.js');
  const ours = await startModelService([
    { name: 'Read', input: { file_path: file } },
    { name: 'Bash', input: { command: COMMAND } },
  ]);
  const theirs = await startModelService([
    { name: 'read_files', input: { files: [{ path: file }] } },
    { name: 'run_commands', input: { commands: [COMMAND] } },
  ]);
  const request = { project: options.project, url: theirs.url, prompt: PROMPT };
  const peer = await openPeerProgram(place, request);
  const us = await hookline(place, options, [...formatServiceFlags(ours), PROMPT]);
  await refuseUnlessThree(theirs, peer);
  await refuseUnlessThree(ours, us);
  return {
    samples: options.quick ? 3 : 30,
    batch: 1,
    us,
    bare: node(place, ['-e', '0']),
    peer,
    async close() {
      await ours.close();
      await theirs.close();
      place.remove();
    },
  };
}

function formatServiceFlags({ url }: ModelService): string[] {
  const model = ['--provider', 'openai-compatible', '--model', 'bench', '--key', 'none'];
  return ['run', ...model, '--base-url', url];
}

async function refuseUnlessThree(service: ModelService, task: Task): Promise<void> {
  const before = service.answered();
  await task();
  const asked = service.answered() - before;
  if (asked !== 3) throw new Error(`expected a task of 3 requests, found ${asked}`);
}

/** The built program, which must do the task. */
async function hookline(
  place: TempWorkspace,
  { project }: RowOptions,
  args: readonly string[],
): Promise<Task> {
  const program = path.join(project, 'dist', 'bin', 'hookline.js');
  if (!existsSync(program)) throw new Error(`${program} is missing: run \`npm run build\` first`);
  const run = node(place, [program, ...args]);
  const output = await run();
  if (!output.includes(DONE)) throw new Error(`expected ${JSON.stringify(DONE)}, found: ${output}`);
  return run;
}

function node(
  { workspace, surroundings }: TempWorkspace,
  args: readonly string[],
): () => Promise<string> {
  const call = { file: process.execPath, cwd: workspace, env: surroundings.env, stdin: '' };
  return () => spawnBare({ ...call, args });
}
