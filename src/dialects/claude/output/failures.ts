import type { Failure, FailurePolicy } from '../../../hooks/decision.ts';
import { EVENTS } from '../../../hooks/events.ts';
import { formatLastErrorLine } from '../../last-error-line.ts';
import { CLAUDE_EVENTS, type ClaudeEvent } from '../events.ts';

/** The hook that failed, as the texts about it need to know it. */
export interface FailedHook {
  readonly event: ClaudeEvent;
  /** Its command or address. */
  readonly label: string;
  readonly onFailure: 'continue' | 'block';
}

/** On these a refusal means that work goes on, so a hook that always fails would never let it end. */
const NEVER_BLOCKED_BY_FAILURE: readonly ClaudeEvent[] = [
  'Stop',
  'SubagentStop',
  'TaskCompleted',
  'TeammateIdle',
];

/** Whether the failure of such a hook refuses the action. Not for async hooks: theirs never does. */
export function getFailurePolicy(
  event: ClaudeEvent,
  onFailure: FailedHook['onFailure'],
): FailurePolicy {
  if (onFailure === 'continue' || NEVER_BLOCKED_BY_FAILURE.includes(event)) return 'open';
  return EVENTS[CLAUDE_EVENTS[event].event].refusal === null ? 'open' : 'closed';
}

/** The failure in Claude's words when it refuses the action; `details` is what the hook said. */
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

/** How a program ended that did not end well. */
export function createExitFailure({ exitCode, signal, stderr, stdout }: Ending): Failure {
  // Many write to stdout why they fail.
  const words = formatLastErrorLine(stderr.trim() === '' ? stdout : stderr);
  if (exitCode === null) {
    return { kind: 'killed', message: `was killed by ${signal ?? 'a signal'}${words}` };
  }
  const hint = exitCode === NOT_EXECUTABLE ? '; `chmod +x` makes a script executable' : '';
  return { kind: 'exit', message: `exited with code ${exitCode}${words}${hint}` };
}

interface Ending {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stderr: string;
  readonly stdout: string;
}

/** What a shell answers for a file that is there and may not be run. */
const NOT_EXECUTABLE = 126;

/** Why a refusal by exit code 2 has no reason although the hook printed one. */
export function noteReasonOnStdout(stdout: string, stderr: string): string[] {
  if (stderr.trim() !== '' || stdout.trim() === '') return [];
  return [
    'with exit code 2 the reason is read from stderr, which is empty; what it printed to stdout is not',
  ];
}

const UNPARSED = /^\S*sh: (?:-c: )?(?:line )?\d+: syntax error/imu;

/** A shell that cannot parse its command says 2, which would otherwise look like a meant refusal. */
export function noteUnparsed(stderr: string): string[] {
  if (!UNPARSED.test(stderr)) return [];
  return ['the shell could not parse this command; if it is written for bash, say "shell": "bash"'];
}

const ONLY_OF_BASH =
  /^\S*\bsh: (?:line )?\d+: (\[\[|source|declare|shopt|mapfile|readarray|pushd|popd|function): not found$/mu;

/** Where /bin/sh is not bash, a test in double brackets is an unknown command and so never true. */
function noteOnlyOfBash(stderr: string): string[] {
  const [, word] = ONLY_OF_BASH.exec(stderr) ?? [];
  if (word === undefined) return [];
  return [
    `/bin/sh of this machine does not know "${word}"; if the command is written for bash, say "shell": "bash"`,
  ];
}

/** Node's pipes are sockets, which a program can write to, but not open once more by their names. */
const REOPENED = /(\/dev\/std(?:out|err)): No such device or address/;
const NO_DIRECTORY = /cannot create (\S+): Directory nonexistent/;

/** What a shell's complaint means, where its words do not say it. */
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
