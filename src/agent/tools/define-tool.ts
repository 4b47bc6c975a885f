import { getErrorMessage } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import { createInputFields, sayType, type InputFields } from './input-fields.ts';
import {
  failedOutput,
  type PreparedCall,
  type RunningCall,
  type Tool,
  type ToolKind,
  type ToolOutput,
} from './tool.ts';
import type { Workbench } from './workbench.ts';

export interface ToolDefinition<Input> {
  readonly name: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly kind: ToolKind;
  /** Fields that only hooks fill in. */
  readonly hookFields?: readonly string[];
  /**
   * Makes the tool's own input of what the model gave; a string says what is wrong with it. What the
   * fields themselves find wrong is told without its doing, and its result is then not used.
   */
  read(given: InputFields, bench: Workbench): Input | string;
  /** Why the call cannot work as things stand, or null. Must not change anything. */
  check?(input: Input, bench: Workbench): string | null;
  /** What hooks see, where it is not what was given: absolute paths, defaults. */
  toHookInput?(input: Input, bench: Workbench): Readonly<Record<string, unknown>>;
  /** What it throws becomes a failed output. */
  run(input: Input, bench: Workbench, call: RunningCall): Promise<ToolOutput>;
}

/** Makes a tool whose input has a type of its own, which nobody outside needs to know. */
export function defineTool<Input>(definition: ToolDefinition<Input>): Tool {
  const { name, description, schema, kind, hookFields } = definition;
  return {
    name,
    description,
    schema,
    kind,
    ...(hookFields === undefined ? {} : { hookFields }),
    prepare(given, bench) {
      try {
        return prepareCall(definition, given, bench);
      } catch (error) {
        return getErrorMessage(error);
      }
    },
  };
}

function prepareCall<Input>(
  definition: ToolDefinition<Input>,
  given: unknown,
  bench: Workbench,
): PreparedCall | string {
  if (!isRecord(given)) {
    return `expected the input of ${definition.name} to be an object, found ${sayType(given)}`;
  }
  const fields = createInputFields(given);
  const input = definition.read(fields, bench);
  const wrong = fields.findWrong();
  if (wrong !== null) return wrong;
  if (typeof input === 'string') return input;
  const obstacle = definition.check?.(input, bench) ?? null;
  if (obstacle !== null) return obstacle;
  return {
    input: definition.toHookInput?.(input, bench) ?? given,
    run: (call) => runSafely(call, () => definition.run(input, bench, call)),
  };
}

async function runSafely(
  { signal }: RunningCall,
  run: () => Promise<ToolOutput>,
): Promise<ToolOutput> {
  if (signal.aborted) return interruptedOutput();
  try {
    return await run();
  } catch (error) {
    return signal.aborted ? interruptedOutput() : failedOutput(getErrorMessage(error));
  }
}

/** Of a call that the person interrupted; `text` is what it said until then. */
export function interruptedOutput(text = ''): ToolOutput {
  const error = 'The call was interrupted before it was done.';
  return { ...failedOutput(text === '' ? error : `${text}\n${error}`), interrupted: true };
}
