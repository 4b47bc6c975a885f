import { cutText } from '../base/json.ts';
import type { Failure } from '../hooks/decision.ts';
import type { Answer, Handler, HandlerInput, ProgramReport } from '../hooks/handler.ts';
import type { BoundedOutput } from '../process/bounded-output.ts';
import { type Program, type ProgramResult, runProgram } from '../process/run.ts';

/** A dialect's two pure functions: the payload for a hook, and the answer read from what it did. */
export interface Codec {
  encode(input: HandlerInput): string;
  /** Reads the answer of a program that ended by itself. */
  decode(input: HandlerInput, result: ProgramResult): Answer;
}

export interface CommandTarget extends Omit<Handler, 'run'> {
  /** What to start; everything but its stdin. */
  readonly program: (input: HandlerInput) => Omit<Program, 'stdin'>;
  readonly codec: Codec;
  /** Gets the first line that the program prints; `true` lets it go on in the background. */
  readonly handOver?: (firstLine: string) => boolean;
}

/** Makes a handler of a program and a codec; all dialects that start programs share it. */
export function commandHandler(target: CommandTarget): Handler {
  const { program, codec, handOver, ...handler } = target;
  return {
    ...handler,
    async run(input, signal) {
      const prepared = program(input);
      const stdin = (): Buffer => payloadFor(codec, input);
      const result = await runProgram(
        { stdin, ...prepared },
        handOver === undefined ? { signal } : { signal, handOver },
      );
      return answerOf(codec, input, { result, timeoutMs: prepared.timeoutMs });
    },
  };
}

const payloads = new WeakMap<HandlerInput, Map<Codec, Buffer>>();

/** Every hook with the same codec gets the same bytes, serialised once however many hooks there are. */
function payloadFor(codec: Codec, input: HandlerInput): Buffer {
  const known = payloads.get(input);
  const ready = known?.get(codec);
  if (ready !== undefined) return ready;
  const payload = Buffer.from(codec.encode(input));
  if (known === undefined) payloads.set(input, new Map([[codec, payload]]));
  else known.set(codec, payload);
  return payload;
}

interface Ended {
  readonly result: ProgramResult;
  readonly timeoutMs: number;
}

function answerOf(codec: Codec, input: HandlerInput, { result, timeoutMs }: Ended): Answer {
  const program = reportOf(result);
  if (result.late !== null) {
    const late = result.late.then((ended) => answerOf(codec, input, { result: ended, timeoutMs }));
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
  return `${cutText(text, REPORT_LIMIT / 2)}\n[... cut: ${totalBytes} bytes in all ...]\n${end}`;
}
