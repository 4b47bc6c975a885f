import { isRecord } from '../../../base/json.ts';
import type { ToolView } from '../../../tool-vocabularies/tool-views.ts';
import { interruptedOutput } from '../define-tool.ts';
import {
  failedOutput,
  type PreparedCall,
  type RunningCall,
  type Tool,
  type ToolOutput,
} from '../tool.ts';
import type { Workbench } from '../workbench.ts';
import { prepareDelete } from './delete-file.ts';
import type { FileChange } from './file-changes.ts';
import { planChanges, type ChangeStep } from './plan-changes.ts';

/** A call that changes files, part by part. */
export interface ChangingCall {
  readonly changes: readonly FileChange[];
  readonly views: readonly ToolView[];
  readonly bench: Workbench;
  readonly findTool: (name: string) => Tool | null;
}

/** Why the changes cannot be made as things stand, or null. Nothing is changed. */
export function findObstacle(call: ChangingCall): string | null {
  const steps = planChanges(call.changes, call.bench);
  if (typeof steps === 'string') return steps;
  const touched = new Set<string>();
  for (const step of steps) {
    // Later changes of a file are for what the first leaves, which was gone through in thought.
    const prepared = touched.has(step.file) ? null : prepareStep(step, call);
    if (typeof prepared === 'string') return prepared;
    touched.add(step.file);
  }
  return null;
}

/** Makes the changes one after the other, and none after one that fails. One output for each. */
export async function runChanges(
  call: ChangingCall,
  running: RunningCall,
): Promise<readonly ToolOutput[]> {
  // Again, because a person may have thought about it for an hour.
  const steps = planChanges(call.changes, call.bench);
  if (typeof steps === 'string') return call.changes.map(() => failedOutput(steps));
  const outputs: ToolOutput[] = steps.map(() => failedOutput(NOT_DONE));
  for (const index of orderOf(steps)) {
    const step = steps[index];
    if (step === undefined) continue;
    const output = await runStep(step, call, running);
    outputs[index] = output.success ? inWordsOf(call.views[index], output) : output;
    if (!output.success) break;
  }
  return outputs;
}

const NOT_DONE = 'Not done, because another change of this call failed.';

// What is moved is written to its new place before it goes from the old one.
function orderOf(steps: readonly ChangeStep[]): readonly number[] {
  const indices = [...steps.keys()];
  return indices.flatMap((index) => {
    const isSource = (at: number): boolean => {
      const step = steps[at];
      return step?.kind === 'delete' && step.isMove;
    };
    if (isSource(index)) return [];
    return isSource(index - 1) ? [index, index - 1] : [index];
  });
}

async function runStep(
  step: ChangeStep,
  call: ChangingCall,
  running: RunningCall,
): Promise<ToolOutput> {
  if (running.signal.aborted) return interruptedOutput();
  const prepared = prepareStep(step, call);
  return typeof prepared === 'string' ? failedOutput(prepared) : prepared.run(running);
}

function prepareStep(step: ChangeStep, { bench, findTool }: ChangingCall): PreparedCall | string {
  if (step.kind === 'delete') return prepareDelete(step.file, bench);
  const name = step.kind === 'edit' ? 'Edit' : 'Write';
  return findTool(name)?.prepare(step.input, bench) ?? `There is no ${name} tool here.`;
}

/** Edit was given more lines than the model wrote, to find the place; hooks are told what it wrote. */
function inWordsOf(view: ToolView | undefined, output: ToolOutput): ToolOutput {
  const { response } = output;
  if (!isRecord(response) || !isRecord(view?.input) || !('oldString' in response)) return output;
  const { old_string: oldString, new_string: newString } = view.input;
  return { ...output, response: { ...response, oldString, newString } };
}
