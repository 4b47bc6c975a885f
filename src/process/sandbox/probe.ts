import { runProgram } from '../run.ts';
import { createProgramFinder } from '../program-finder.ts';
import { buildBubblewrapArgs } from './bubblewrap.ts';

/** Whether programs can be sandboxed here; shared by every mode and by `doctor`. */
export type SandboxProbe =
  | {
      readonly works: true;
      readonly launcher: 'bubblewrap' | 'sandbox-exec';
      readonly file: string;
    }
  | {
      readonly works: false;
      /** What is missing, as a sentence. */
      readonly why: string;
      /** What to do about it; null where nothing can be done. */
      readonly hint: string | null;
    };

export interface ProbeMachine {
  readonly platform: NodeJS.Platform;
  /** The variable PATH. */
  readonly path: string | undefined;
  /** Programs found in one of these directories are not used, because an agent may have written them. */
  readonly untrusted: readonly string[];
}

/** Starts the smallest sandbox, because only the kernel knows whether it may be made. */
export async function probeSandbox(machine: ProbeMachine): Promise<SandboxProbe> {
  if (machine.platform === 'darwin') return probeSeatbelt();
  if (machine.platform !== 'linux') {
    return { works: false, why: `There is no sandbox for ${machine.platform}.`, hint: null };
  }
  const file = findBubblewrap(machine);
  if (file === null) {
    return {
      works: false,
      why: 'bubblewrap (the program bwrap) was not found.',
      hint: 'Install it: apt-get install bubblewrap, dnf install bubblewrap, or pacman -S bubblewrap.',
    };
  }
  return tryBubblewrap(file);
}

const SYSTEM_DIRECTORIES = '/usr/bin:/bin:/usr/local/bin:/usr/sbin:/sbin';

/** The system's own comes first: a PATH may begin with a directory of the workspace. */
function findBubblewrap({ path: pathVariable, untrusted }: ProbeMachine): string | null {
  const own = createProgramFinder(SYSTEM_DIRECTORIES, 'linux')('bwrap');
  if (own !== null) return own;
  const directories = (pathVariable ?? '')
    .split(':')
    .filter((directory) => !untrusted.some((each) => `${directory}/`.startsWith(`${each}/`)));
  return createProgramFinder(directories.join(':'), 'linux')('bwrap');
}

const PROBE_TIMEOUT_MS = 20_000;

async function tryBubblewrap(file: string): Promise<SandboxProbe> {
  const covers = { file: '/dev/null', directory: '/' };
  const args = buildBubblewrapArgs({ network: 'on' }, [], covers);
  const result = await runProgram({
    file,
    args: [...args, '--', '/bin/sh', '-c', ':'],
    cwd: '/',
    env: {},
    stdin: '',
    timeoutMs: PROBE_TIMEOUT_MS,
  });
  if (result.ending === 'exit' && result.exitCode === 0) {
    return { works: true, launcher: 'bubblewrap', file };
  }
  const said = result.spawnError?.message ?? result.stderr.text.trim().split('\n')[0] ?? '';
  const detail = said === '' ? `it ended by ${result.ending}` : said;
  return { works: false, why: `${file} cannot make a sandbox here: ${detail}`, hint: FORBIDDEN };
}

const FORBIDDEN =
  'The kernel or the container forbids it: allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0), or run the container with the rights to make them.';

const SANDBOX_EXEC = '/usr/bin/sandbox-exec';

async function probeSeatbelt(): Promise<SandboxProbe> {
  const result = await runProgram({
    file: SANDBOX_EXEC,
    args: ['-p', '(version 1)(allow default)', '/usr/bin/true'],
    cwd: '/',
    env: {},
    stdin: '',
    timeoutMs: PROBE_TIMEOUT_MS,
  });
  if (result.ending === 'exit' && result.exitCode === 0) {
    return { works: true, launcher: 'sandbox-exec', file: SANDBOX_EXEC };
  }
  const said = result.spawnError?.message ?? result.stderr.text.trim();
  return { works: false, why: `${SANDBOX_EXEC} cannot make a sandbox here: ${said}`, hint: null };
}
