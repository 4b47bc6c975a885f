import { truncateText } from '../base/json.ts';
import { memoizePerObject } from '../base/memoize.ts';
import type { Failure, FailureKind } from '../hooks/decision.ts';
import type { Answer, Exchange, Handler, HandlerInput } from '../hooks/handler.ts';
import type { BoundedOutput } from '../process/bounded-output.ts';
import { type Program, type ProgramResult, runProgram } from '../process/run.ts';
import type { GrantedSandbox } from './discovery.ts';

/** A dialect's two pure functions: one encodes the payload of a hook, one decodes its result. */
export interface Codec {
  /** Hooks with the same function share one payload. */
  readonly encode: (input: HandlerInput) => string;
  /** Decodes the result of a program that exited without being killed. */
  readonly decode: (input: HandlerInput, result: ProgramResult) => Answer;
}

export interface CommandTarget extends Omit<Handler, 'run' | 'sandbox'> {
  /** Returns the program to start, without its stdin. */
  readonly program: (input: HandlerInput) => Omit<Program, 'stdin'>;
  readonly codec: Codec;
  /** The program has the user's rights when absent. */
  readonly sandbox?: GrantedSandbox | undefined;
}

/** Creates a handler from a program and a codec, for dialects whose programs answer when they end. */
export function createCommandHandler(target: CommandTarget): Handler {
  const { program, codec, sandbox, ...handler } = target;
  const runWith = sandbox?.run ?? runProgram;
  const encode = shareEncoding(codec.encode);
  return {
    ...handler,
    ...(sandbox === undefined ? {} : { sandbox: sandbox.profile }),
    prepare: (input) => void encode(input),
    async run(input, signal, report) {
      const started = program(input);
      const stdin = (): Buffer => encode(input);
      const result = await runWith({ stdin, ...started }, { signal });
      if (report !== undefined) reportExchange(started, stdin(), result, report);
      const ended = describeEnd(result, started.timeoutMs);
      return ended.failure === undefined ? { ...ended, ...codec.decode(input, result) } : ended;
    },
  };
}

/** Hooks with the same encoder share the bytes, which are encoded once per event. */
const shareEncoding = memoizePerObject((encode: Codec['encode']) =>
  memoizePerObject((input: HandlerInput) => Buffer.from(encode(input))),
);

/** Creates a handler for a hook that cannot be started: each run fails with the reason. */
export function createFailingHandler(
  target: Omit<Handler, 'run'>,
  message: string,
  kind: FailureKind = 'spawn',
): Handler {
  const failure: Failure = { kind, message };
  return { ...target, run: () => ({ failure }) };
}

/** Reports the end of a program; a background program is reported when it has ended. */
export function reportExchange(
  { file, args, cwd }: Omit<Program, 'stdin'>,
  payload: Buffer,
  result: ProgramResult,
  report: (exchange: Exchange) => void,
): void {
  const reportEnd = (ended: ProgramResult): void => {
    const { stdout, stderr } = toReport(ended);
    const commandLine = [file, ...args].join(' ');
    const { durationMs } = ended;
    report({
      asked: commandLine,
      cwd,
      payload,
      ending: describeEnding(ended),
      stdout,
      stderr,
      durationMs,
    });
  };
  if (result.late === null) reportEnd(result);
  else void result.late.then(reportEnd);
}

function describeEnding({ ending, exitCode, signal }: ProgramResult): string {
  if (ending === 'exit') return `exit code ${exitCode}`;
  return ending === 'signal' ? `killed by ${signal}` : ending;
}

/** How a program ended, with a failure when it was killed or not started. */
export function describeEnd(
  result: ProgramResult,
  timeoutMs: number,
): Pick<Answer, 'program' | 'failure'> {
  const program = toReport(result);
  const failure = describeFailure(result, timeoutMs);
  return failure === null ? { program } : { failure, program };
}

/** Describes why a program was killed or not started; null when it exited. */
function describeFailure(result: ProgramResult, timeoutMs: number): Failure | null {
  switch (result.ending) {
    case 'spawn':
      return { kind: 'spawn', message: result.spawnError?.message ?? 'could not be started' };
    case 'timeout':
      return {
        kind: 'timeout',
        message: `did not finish within ${formatSeconds(timeoutMs)} and was ended${describeRest(result)}`,
      };
    case 'abort':
      return { kind: 'killed', message: 'was ended because the dispatch was aborted' };
    default:
      return null;
  }
}

function describeRest({ isTreeEnded }: ProgramResult): string {
  return isTreeEnded ? ' with everything it started' : '; processes that it detached may still run';
}

function formatSeconds(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000} s` : `${ms} ms`;
}

const REPORT_LIMIT = 64 * 1024;

function toReport({ exitCode, stdout, stderr }: ProgramResult) {
  return { exitCode, stdout: limitText(stdout), stderr: limitText(stderr) };
}

function limitText({ text, tail, truncated, totalBytes }: BoundedOutput): string {
  if (!truncated && text.length <= REPORT_LIMIT) return text;
  const end = truncated ? tail.slice(-REPORT_LIMIT / 2) : text.slice(-REPORT_LIMIT / 2);
  return `${truncateText(text, REPORT_LIMIT / 2)}\n[... cut: ${totalBytes} bytes in all ...]\n${end}`;
}

const LAST_LINE_CHARACTERS = 300;

/** Formats the line with the error, mostly the last one, after a colon; empty when there is none. */
export function formatLastErrorLine(output: string): string {
  const lines = output.trimEnd().split('\n');
  const last = lines.at(-1)?.trim() ?? '';
  const line = findLineBefore(last, lines) ?? last;
  return line === '' ? '' : `: ${truncateText(line, LAST_LINE_CHARACTERS)}`;
}

const END_OF_NODES_REPORT = /^Node\.js v\d/;
const ADVICE_OF_ENV = /\benv: use -\[v\]S/;

/** Finds the error where the last line is only the end of a program's report. */
function findLineBefore(last: string, lines: readonly string[]): string | undefined {
  if (END_OF_NODES_REPORT.test(last)) return lines.find(isErrorLine);
  return ADVICE_OF_ENV.test(last) ? lines.at(-2)?.trim() : undefined;
}

function isErrorLine(line: string): boolean {
  return /^(?:Uncaught )?(?:\w*Error\b.*|UnhandledPromiseRejection):/.test(line);
}
