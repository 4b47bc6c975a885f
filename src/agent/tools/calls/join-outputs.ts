import type { ToolOutput } from '../tool.ts';

export interface PartOutput {
  /** What the part was, in a line. */
  readonly heading: string;
  readonly output: ToolOutput;
}

/** The answer to a call of several parts; it worked only when all of them did. */
export function joinOutputs(parts: readonly PartOutput[]): ToolOutput {
  const [only, ...more] = parts;
  if (only !== undefined && more.length === 0) return only.output;
  const outputs = parts.map(({ output }) => output);
  const failed = outputs.find(({ success }) => !success);
  const images = outputs.flatMap((output) => output.images ?? []);
  const text = parts
    .map(
      ({ heading, output }, index) =>
        `[${index + 1}/${parts.length}] ${heading}\n${saidBy(output)}`,
    )
    .join('\n\n');
  return {
    response: undefined,
    text,
    success: failed === undefined,
    parts: outputs,
    // What worked must not be lost with what did not.
    ...(failed === undefined ? {} : { error: text }),
    ...(failed?.exitCode === undefined ? {} : { exitCode: failed.exitCode }),
    ...(images.length === 0 ? {} : { images }),
    ...(outputs.some(({ interrupted }) => interrupted === true) ? { interrupted: true } : {}),
  };
}

function saidBy({ success, text, error }: ToolOutput): string {
  return success ? text : (error ?? text);
}
