import { spawnSync } from 'node:child_process';
import { mkdirSync, rmdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { environmentOf, hooklineProgram, type HooklineResult } from '../cli/hookline.ts';
import { createTempWorkspace, type TempWorkspace } from '../cli/temp-workspace.ts';
import { bash, DONE, scripted } from './agent-run.ts';

const IS_ROOT = process.getuid?.() === 0;

/** Runs the built program behind another one, which makes its surroundings. */
type Run = (workspace: TempWorkspace, args: readonly string[]) => HooklineResult;

function runBehind(
  file: string,
  before: readonly string[],
  workspace: TempWorkspace,
  args: readonly string[],
): HooklineResult {
  const { status, stdout, stderr } = spawnSync(
    file,
    [...before, process.execPath, hooklineProgram(), ...args],
    { cwd: workspace.repo, env: environmentOf(workspace), encoding: 'utf8' },
  );
  return { code: status, stdout, stderr };
}

/** In a directory with all of the root in it, which is no mount itself. */
const CHROOT = `set -e
mkdir "$1"
for name in $(ls -A /); do
  if [ -L "/$name" ]; then ln -s "$(readlink "/$name")" "$1/$name"
  elif [ -d "/$name" ]; then mkdir "$1/$name"; mount --rbind "/$name" "$1/$name"; fi
done
shift
exec chroot "$@"`;

const runInChroot: Run = (workspace, args) => {
  const root = path.join(workspace.directory, 'root');
  const inside = ['sh', '-c', `cd "$1"; shift; exec "$@"`, 'sh', workspace.repo];
  const namespace = ['--mount', '--propagation', 'private', ...(IS_ROOT ? [] : ['-r'])];
  const before = [...namespace, 'sh', '-c', CHROOT, 'sh', root, root, ...inside];
  return runBehind('unshare', before, workspace, args);
};

/** The mount point of the second version of cgroups; null where only root could make a group, or there is none. */
function findCgroups(): string | null {
  if (!IS_ROOT) return null;
  const types = ['-n', '-o', 'TARGET', '-t', 'cgroup2'];
  const [first = ''] = spawnSync('findmnt', types, { encoding: 'utf8' }).stdout.split('\n');
  return first === '' ? null : first;
}

const CGROUPS = findCgroups();

// Seen from a group, a mount of the groups above comes from `/..`, and one of the group itself from `/`.
const IN_GROUP = `echo $$ > "$1/cgroup.procs"; cd "$1/work"; shift; exec unshare --cgroup "$@"`;

const runInCgroup: Run = (workspace, args) => {
  const group = path.join(CGROUPS ?? '', path.basename(workspace.directory));
  mkdirSync(path.join(group, 'work'), { recursive: true });
  onTestFinished(() => [path.join(group, 'work'), group].forEach((each) => rmdirSync(each)));
  return runBehind('sh', ['-c', IN_GROUP, 'sh', group], workspace, args);
};

describe.each([
  ['a chroot whose root is no mount', runInChroot, true, /bwrap: .*The root directory is not a/s],
  [
    'a file system of which mounts cannot be told apart',
    runInCgroup,
    CGROUPS !== null,
    /does not list where/,
  ],
] as const)('in %s', (_where, run, isPossible, why) => {
  it.skipIf(!isPossible)(
    'commands run without a sandbox in the mode auto, which is reported once',
    () => {
      const workspace = createTempWorkspace();
      const turns = [bash('echo one'), bash('echo two'), DONE];
      const flags = ['go', '--permission-mode', 'bypassPermissions', '--output', 'json'];
      const { code, stderr } = run(workspace, scripted(workspace, turns, flags));
      expect([code, stderr.match(/without a sandbox/g)]).toEqual([0, ['without a sandbox']]);
      expect(stderr).toMatch(why);
    },
  );

  it.skipIf(!isPossible)('the mode on is an error that says why', () => {
    const workspace = createTempWorkspace();
    const flags = ['go', '--sandbox', 'on'];
    const { code, stderr } = run(workspace, scripted(workspace, [DONE], flags));
    expect(code).toBe(2);
    expect(stderr).toMatch(/no sandbox can be made: /);
    expect(stderr).toMatch(why);
  });

  it.skipIf(!isPossible)('doctor names it', () => {
    const { stdout } = run(createTempWorkspace(), ['doctor']);
    expect(stdout).toMatch(why);
  });
});
