import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { prepareLaunch, type OpenedSandbox } from '../../src/agent/tools/shell/shell-launch.ts';
import { openHooks } from '../../src/host/open-hooks.ts';
import { openPermissions } from '../../src/host/open-permissions.ts';
import { openSandbox } from '../../src/host/sandbox/open-sandbox.ts';
import { runProgram } from '../../src/process/run.ts';
import type { SpawnRequest } from '../../src/process/spawn.ts';
import { createTempWorkspace, type TempWorkspace } from '../temp-workspace.ts';
import type { Check, Contest, Row, RowOptions } from '../row.ts';

const MAX_MOUNTS = 16;

/** What the sandbox costs a command of the agent. */
export const sandboxRows: readonly Row[] = [
  {
    name: 'Bash in the sandbox, beside a bare bwrap',
    bound: {
      of: 'ratio',
      atMost: 1.3,
      because: 'the same shell in bwrap with a read-only root, its own processes and one bind',
    },
    open: openCommand,
  },
  {
    name: 'mounts of the sandbox, and the files that deny rules list',
    bound: { of: 'check', atMost: 0, because: `at most ${MAX_MOUNTS} without path rules` },
    open: openMounts,
  },
];

async function openCommand({ quick }: RowOptions): Promise<Contest> {
  const place = createGitWorkspace();
  const { sandbox, close } = await openBenchSandbox(place, []);
  return {
    samples: quick ? 60 : 200,
    batch: 1,
    us: () => runCommand(place, sandbox),
    bare: () => runCommand(place, createBareSandbox(place, sandbox)),
    async close() {
      close();
      place.remove();
    },
  };
}

async function openMounts(): Promise<Check> {
  const place = createGitWorkspace();
  return {
    async check() {
      const plain = await countMounts(place, []);
      const facts = [`${plain.mounts} mounts`];
      for (const count of [100, 10_000]) {
        addFiles(place, count);
        const listed = await countMounts(place, ['Read(**/*.secret)', 'Read(./.env)']);
        facts.push(
          `${count} files: ${listed.mounts} mounts, ${listed.ms} ms, again ${listed.againMs} ms`,
        );
      }
      const problems =
        plain.mounts > MAX_MOUNTS ? [`${plain.mounts} mounts, at most ${MAX_MOUNTS}`] : [];
      return { facts: facts.join('; '), problems };
    },
    async close() {
      place.remove();
    },
  };
}

function createGitWorkspace(): TempWorkspace {
  const place = createTempWorkspace();
  execFileSync('git', ['init', '-q', '.'], { cwd: place.workspace });
  return place;
}

function addFiles({ workspace }: TempWorkspace, count: number): void {
  for (let index = 0; index < count; index += 1) {
    const directory = path.join(workspace, `d${index % 100}`);
    mkdirSync(directory, { recursive: true });
    writeFileSync(path.join(directory, `f${index}${index % 1000 === 0 ? '.secret' : ''}`), '');
  }
}

async function openBenchSandbox(
  { workspace, surroundings }: TempWorkspace,
  deny: readonly string[],
) {
  const opened = openHooks({ cwd: workspace, roots: [workspace], surroundings });
  const { permissions } = openPermissions(opened, { deny });
  const notice = (): void => undefined;
  const session = await openSandbox({ opened, permissions, mode: 'on', notice });
  const sandbox = await session.open();
  if (sandbox === null || typeof sandbox === 'string') throw new Error(`no sandbox: ${sandbox}`);
  return { sandbox, close: () => session.close() };
}

async function countMounts(place: TempWorkspace, deny: readonly string[]) {
  const { sandbox, close } = await openBenchSandbox(place, deny);
  const enter = (): { readonly mounts: number; readonly ms: string } => {
    const start = performance.now();
    const entered = sandbox.enter(createProgram(place));
    const ms = (performance.now() - start).toFixed(1);
    if (typeof entered === 'string') throw new Error(entered);
    entered.release();
    return { mounts: entered.mountCount, ms };
  };
  const { mounts, ms } = enter();
  const { ms: againMs } = enter();
  close();
  return { mounts, ms, againMs };
}

function createProgram({ workspace, surroundings }: TempWorkspace): SpawnRequest {
  const PATH = surroundings.env['PATH'] ?? '/usr/bin:/bin';
  return { file: '/bin/bash', args: ['-c', 'echo hello'], cwd: workspace, env: { PATH } };
}

/** What every sandbox of bubblewrap needs, around the same program. */
function createBareSandbox(
  { workspace }: TempWorkspace,
  { temporaryDirectory, takeScript }: OpenedSandbox,
): OpenedSandbox {
  const base = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--unshare-pid'];
  return {
    temporaryDirectory,
    takeScript,
    hidden: [],
    findQuestion: () => null,
    enter: (program) => ({
      program: {
        ...program,
        file: 'bwrap',
        args: [...base, '--bind', workspace, workspace, '--', program.file, ...program.args],
        ownsPidNamespace: true,
      },
      profile: 'workspace',
      mountCount: 1,
      track: () => undefined,
      hasStarted: () => null,
      hasOtherMounts: () => false,
      prepareAgain: () => 'Bubblewrap alone is not tried again.',
      release: () => undefined,
    }),
  };
}

async function runCommand(place: TempWorkspace, sandbox: OpenedSandbox): Promise<string> {
  const { cwd, env } = createProgram(place);
  const launch = prepareLaunch({ command: 'echo hello', cwd, env, prelude: '' }, sandbox);
  if (typeof launch === 'string') throw new Error(launch);
  const result = await runProgram({
    ...launch.program,
    stdin: '',
    opensStdin: true,
    timeoutMs: 60_000,
  });
  launch.sandboxed?.release();
  launch.dispose();
  if (!result.stdout.text.includes('hello')) throw new Error(result.stderr.text);
  return result.stdout.text;
}
