import type { Failure, FailurePolicy } from '../../../hooks/decision.ts';
import { EVENTS } from '../../../hooks/events.ts';
import { formatLastErrorLine } from '../../command-handler.ts';
import { CLAUDE_EVENTS, type ClaudeEvent } from '../events.ts';

/** The facts about a failed hook that messages contain. */
export interface FailedHook {
  readonly event: ClaudeEvent;
  /** Its command or URL. */
  readonly label: string;
  readonly onFailure: 'continue' | 'block';
}

/** At these events a refusal makes the agent continue, so a hook that always fails would never let it end. */
const NEVER_BLOCKED_BY_FAILURE: readonly ClaudeEvent[] = [
  'Stop',
  'SubagentStop',
  'TaskCompleted',
  'TeammateIdle',
];

/** Whether the failure of a hook refuses the action. Not for async hooks, whose failure never does. */
export function getFailurePolicy(
  event: ClaudeEvent,
  onFailure: FailedHook['onFailure'],
): FailurePolicy {
  if (onFailure === 'continue' || NEVER_BLOCKED_BY_FAILURE.includes(event)) return 'open';
  return EVENTS[CLAUDE_EVENTS[event].event].refusal === null ? 'open' : 'closed';
}

/** Formats a failure that refuses the action as Claude Code does; `details` is the hook's output. */
export function explainFailure(hook: FailedHook, failure: Failure, details: string): Failure {
  if (getFailurePolicy(hook.event, hook.onFailure) === 'open') return failure;
  const how = failure.kind === 'timeout' ? 'timed out' : 'failed';
  const head = `[${hook.label}]: ${how}; blocking because onFailure is "block"`;
  const message = failure.kind === 'timeout' ? head : `${head}\n${details}`;
  return { kind: failure.kind, message };
}

const NO_STDERR = 'No stderr output';

export function formatStderr(stderr: string): string {
  return stderr.trimEnd() === '' ? NO_STDERR : stderr.trimEnd();
}

/** Creates the failure of a program by its exit code or signal. */
export function createExitFailure({
  exitCode,
  signal,
  stderr,
  stdout,
}: {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stderr: string;
  readonly stdout: string;
}): Failure {
  // Many programs write their error to stdout.
  const words = formatLastErrorLine(stderr.trim() === '' ? stdout : stderr);
  if (exitCode === null) {
    return { kind: 'killed', message: `was killed by ${signal ?? 'a signal'}${words}` };
  }
  const hint = exitCode === NOT_EXECUTABLE ? '; `chmod +x` makes a script executable' : '';
  return { kind: 'exit', message: `exited with code ${exitCode}${words}${hint}` };
}

/** The exit code of a shell for a file that is not executable. */
const NOT_EXECUTABLE = 126;

/** Explains why exit code 2 has no reason although the hook printed one to stdout. */
export function noteReasonOnStdout(stdout: string, stderr: string): string[] {
  if (stderr.trim() !== '' || stdout.trim() === '') return [];
  return [
    'with exit code 2 the reason is read from stderr, which is empty; what it printed to stdout is not',
  ];
}

const UNPARSED = /^\S*sh: (?:-c: )?(?:line )?\d+: syntax error/imu;

/** A shell exits with 2 on a syntax error, which otherwise looks like an intended refusal. */
export function noteUnparsed(stderr: string): string[] {
  if (!UNPARSED.test(stderr)) return [];
  return ['the shell could not parse this command; if it is written for bash, set "shell": "bash"'];
}

const ONLY_OF_BASH =
  /^\S*\bsh: (?:line )?\d+: (\[\[|source|declare|shopt|mapfile|readarray|pushd|popd|function): not found$/mu;

/** Without bash, `[[` is an unknown command, so that a test with it is never true. */
function noteOnlyOfBash(stderr: string): string[] {
  const [, word] = ONLY_OF_BASH.exec(stderr) ?? [];
  if (word === undefined) return [];
  return [
    `/bin/sh of this machine does not know "${word}"; if the command is written for bash, set "shell": "bash"`,
  ];
}

/** Node's pipes are sockets, which cannot be opened again under `/dev/stdout`. */
const REOPENED = /(\/dev\/std(?:out|err)): No such device or address/;
const NO_DIRECTORY = /cannot create (\S+): Directory nonexistent/;

/** Explains shell errors whose text is misleading. */
export function noteShellComplaint(stderr: string): string[] {
  const reopened = REOPENED.exec(stderr)?.[1];
  const uncreated = NO_DIRECTORY.exec(stderr)?.[1];
  return [
    ...noteOnlyOfBash(stderr),
    ...(reopened === undefined
      ? []
      : [
          `${reopened} cannot be opened here; write to ${reopened.endsWith('err') ? '>&2' : '>&1'}`,
        ]),
    ...(uncreated === undefined
      ? []
      : [`${uncreated} lies in a directory that does not exist, and /bin/sh ends with 2 then`]),
  ];
}
