import { truncateText } from '../base/json.ts';
import type { Failure } from '../hooks/decision.ts';
import type { Answer, Handler, HandlerInput, ProgramReport } from '../hooks/handler.ts';
import { tell } from '../hooks/observers.ts';
import type { BoundedOutput } from '../process/bounded-output.ts';
import { type HandOver, type Program, type ProgramResult, runProgram } from '../process/run.ts';
import type { Exchange, Grant } from './dialect.ts';

/** A dialect's two pure functions: the payload for a hook, and the answer read from what it did. */
export interface Codec {
  /** Hooks that share this function share the payload that it makes. */
  readonly encode: (input: HandlerInput) => string;
  /** Reads the answer of a program that ended by itself. */
  readonly decode: (input: HandlerInput, result: ProgramResult) => Answer;
  /** The same for one that went on in the background; `decode` when there is no difference. */
  readonly decodeLate?: (input: HandlerInput, result: ProgramResult) => Answer;
}

export interface CommandTarget extends Omit<Handler, 'run'> {
  /** What to start; everything but its stdin. */
  readonly program: (input: HandlerInput) => Omit<Program, 'stdin'>;
  readonly codec: Codec;
  /** Gets the first line that the program prints, and may let it go on in the background. */
  readonly handOver?: HandOver;
  readonly onExchange?: Grant['onExchange'] | undefined;
}

/** Makes a handler of a program and a codec; all dialects that start programs share it. */
export function commandHandler(target: CommandTarget): Handler {
  const { program, codec, handOver, onExchange, ...handler } = target;
  return {
    ...handler,
    prepare: (input) => void payloadFor(codec, input),
    async run(input, signal) {
      const prepared = program(input);
      const stdin = (): Buffer => payloadFor(codec, input);
      const result = await runProgram(
        { stdin, ...prepared },
        handOver === undefined ? { signal } : { signal, handOver },
      );
      if (onExchange !== undefined) {
        const payload = stdin().toString('utf8');
        const exchange = { hook: handler.id, asked: prepared, payload };
        tellEnd(result, (ended) => tell(onExchange, exchangeOf(exchange, ended)));
      }
      return answerOf(codec, input, { result, timeoutMs: prepared.timeoutMs });
    },
  };
}

/** A handler of something that cannot be started: each run says why, and none looks like agreement. */
export function failingHandler(target: Omit<Handler, 'run'>, message: string): Handler {
  const failure: Failure = { kind: 'spawn', message };
  return { ...target, run: () => ({ failure }) };
}

/** Of a program that went on in the background, the end is what there is to tell. */
function tellEnd(result: ProgramResult, report: (ended: ProgramResult) => void): void {
  if (result.late === null) report(result);
  else void result.late.then(report);
}

interface Asked {
  readonly hook: string;
  readonly asked: Omit<Program, 'stdin'>;
  readonly payload: string;
}

function exchangeOf({ hook, asked, payload }: Asked, result: ProgramResult): Exchange {
  const { stdout, stderr } = reportOf(result);
  return {
    hook,
    asked: [asked.file, ...asked.args].join(' '),
    cwd: asked.cwd,
    payload,
    ending: endingOf(result),
    stdout,
    stderr,
    durationMs: result.durationMs,
  };
}

function endingOf({ ending, exitCode, signal }: ProgramResult): string {
  if (ending === 'exit') return `exit code ${exitCode}`;
  return ending === 'signal' ? `killed by ${signal}` : ending;
}

type Encode = Codec['encode'];

const payloads = new WeakMap<HandlerInput, Map<Encode, Buffer>>();

/** Every hook with the same encoder gets the same bytes, made once however many hooks there are. */
function payloadFor({ encode }: Codec, input: HandlerInput): Buffer {
  const known = payloads.get(input);
  const ready = known?.get(encode);
  if (ready !== undefined) return ready;
  const payload = Buffer.from(encode(input));
  if (known === undefined) payloads.set(input, new Map([[encode, payload]]));
  else known.set(encode, payload);
  return payload;
}

interface Ended {
  readonly result: ProgramResult;
  readonly timeoutMs: number;
}

function answerOf(codec: Codec, input: HandlerInput, { result, timeoutMs }: Ended): Answer {
  const program = reportOf(result);
  if (result.late !== null) {
    const lateCodec = { ...codec, decode: codec.decodeLate ?? codec.decode };
    const late = result.late.then((ended) =>
      answerOf(lateCodec, input, { result: ended, timeoutMs }),
    );
    return { program, late };
  }
  const failure = endingFailure(result, timeoutMs);
  return failure === null ? { program, ...codec.decode(input, result) } : { failure, program };
}

/** Why a program that did not end by itself has failed; null when it did and its output counts. */
function endingFailure(result: ProgramResult, timeoutMs: number): Failure | null {
  switch (result.ending) {
    case 'spawn':
      return { kind: 'spawn', message: result.spawnError?.message ?? 'could not be started' };
    case 'timeout':
      return {
        kind: 'timeout',
        message: `did not finish within ${seconds(timeoutMs)} and was ended with everything it started`,
      };
    case 'abort':
      return { kind: 'killed', message: 'was ended because the dispatch was aborted' };
    default:
      return null;
  }
}

function seconds(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000} s` : `${ms} ms`;
}

const REPORT_LIMIT = 64 * 1024;

function reportOf({ exitCode, stdout, stderr }: ProgramResult): ProgramReport {
  return { exitCode, stdout: reportText(stdout), stderr: reportText(stderr) };
}

function reportText({ text, tail, truncated, totalBytes }: BoundedOutput): string {
  if (!truncated && text.length <= REPORT_LIMIT) return text;
  const end = truncated ? tail.slice(-REPORT_LIMIT / 2) : text.slice(-REPORT_LIMIT / 2);
  return `${truncateText(text, REPORT_LIMIT / 2)}\n[... cut: ${totalBytes} bytes in all ...]\n${end}`;
}
