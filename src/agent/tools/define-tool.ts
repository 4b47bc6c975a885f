import { dropUndefined } from '../../base/defined.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import { describeType, InputFields } from './input-fields.ts';
import {
  createFailedOutput,
  type RunningCall,
  type Tool,
  type ToolKind,
  type ToolOutput,
} from './tool.ts';
import type { ToolContext } from './tool-context.ts';

export interface ToolDefinition<Input> {
  readonly name: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly kind: ToolKind;
  /** Fields that only hooks set. */
  readonly hookFields?: readonly string[];
  /**
   * Converts the model's input to the tool's own type; a string describes a problem. Problems of single
   * fields are recorded by `InputFields`, and then the result is ignored.
   */
  parse(fields: InputFields, context: ToolContext): Input | string;
  /** Why the call cannot succeed at present, or null. Must not change anything. */
  check?(input: Input, context: ToolContext): string | null;
  /** The input for hooks, when it differs from the model's: absolute paths, defaults. */
  toHookInput?(input: Input, context: ToolContext): Readonly<Record<string, unknown>>;
  /** A thrown error becomes a failed output. */
  run(input: Input, context: ToolContext, call: RunningCall): Promise<ToolOutput>;
}

/** Creates a tool whose input type stays private to it. */
export function defineTool<Input>(definition: ToolDefinition<Input>): Tool {
  const { name, description, schema, kind, hookFields } = definition;
  return {
    name,
    description,
    schema,
    kind,
    ...dropUndefined({ hookFields }),
    prepare(rawInput, context) {
      if (!isRecord(rawInput)) {
        return `expected the input of ${name} to be an object, found ${describeType(rawInput)}`;
      }
      try {
        const fields = new InputFields(rawInput);
        const input = definition.parse(fields, context);
        const problem = fields.findProblem();
        if (problem !== null) return problem;
        if (typeof input === 'string') return input;
        const obstacle = definition.check?.(input, context) ?? null;
        if (obstacle !== null) return obstacle;
        return {
          input: definition.toHookInput?.(input, context) ?? rawInput,
          run: (call) => runSafely(call, () => definition.run(input, context, call)),
        };
      } catch (error) {
        return getErrorMessage(error);
      }
    },
  };
}

async function runSafely(
  { signal }: RunningCall,
  run: () => Promise<ToolOutput>,
): Promise<ToolOutput> {
  if (signal.aborted) return createInterruptedOutput();
  try {
    return await run();
  } catch (error) {
    return signal.aborted ? createInterruptedOutput() : createFailedOutput(getErrorMessage(error));
  }
}

/** The output of a call that the user interrupted; `text` is its output so far. */
export function createInterruptedOutput(text = ''): ToolOutput {
  const error = 'The call was interrupted before it was done.';
  return { ...createFailedOutput(text === '' ? error : `${text}\n${error}`), interrupted: true };
}
