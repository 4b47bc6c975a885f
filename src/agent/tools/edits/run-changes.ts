import { isRecord } from '../../../base/json.ts';
import type { ToolView } from '../../../hooks/faces/faces.ts';
import { createInterruptedOutput } from '../define-tool.ts';
import {
  createFailedOutput,
  type PreparedCall,
  type RunningCall,
  type Tool,
  type ToolOutput,
} from '../tool.ts';
import type { ToolContext } from '../tool-context.ts';
import type { FileChange } from './file-changes.ts';
import { planChanges, type ChangeStep } from './plan-changes.ts';
import { unlinkSync } from 'node:fs';
import { openForEdit } from '../files/editable-file.ts';
import { describeFileError, formatMissingFile } from '../files/read-path.ts';
import { diffTexts } from '../files/structured-patch.ts';
import { normalizeLineEnds } from '../files/text-file.ts';

/** A call that edits files, one change per part. */
interface EditCall {
  readonly changes: readonly FileChange[];
  readonly views: readonly ToolView[];
  readonly context: ToolContext;
  readonly findTool: (name: string) => Tool | null;
}

/** Why the changes cannot be made at present, or null. Nothing is changed. */
export function findObstacle(call: EditCall): string | null {
  const steps = planChanges(call.changes, call.context);
  if (typeof steps === 'string') return steps;
  const touched = new Set<string>();
  for (const step of steps) {
    // Only the first change of a file can be prepared now; later ones depend on it and were simulated.
    const prepared = touched.has(step.file) ? null : prepareStep(step, call);
    if (typeof prepared === 'string') return prepared;
    touched.add(step.file);
  }
  return null;
}

/** Applies the changes in order and stops at the first that fails. Returns one output per change. */
export async function runChanges(
  call: EditCall,
  running: RunningCall,
): Promise<readonly ToolOutput[]> {
  // Planned again, because an approval may take long and files may have changed.
  const steps = planChanges(call.changes, call.context);
  if (typeof steps === 'string') return call.changes.map(() => createFailedOutput(steps));
  const outputs: ToolOutput[] = steps.map(() => createFailedOutput(NOT_DONE));
  for (const index of orderSteps(steps)) {
    const step = steps[index];
    if (step === undefined) continue;
    const output = await runStep(step, call, running);
    outputs[index] = output.success ? restoreModelTexts(call.views[index], output) : output;
    if (!output.success) break;
  }
  return outputs;
}

const NOT_DONE = 'Not done, because another change of this call failed.';

// A moved file is written to its new path before the old one is deleted.
function orderSteps(steps: readonly ChangeStep[]): readonly number[] {
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
  call: EditCall,
  running: RunningCall,
): Promise<ToolOutput> {
  if (running.signal.aborted) return createInterruptedOutput();
  const prepared = prepareStep(step, call);
  return typeof prepared === 'string' ? createFailedOutput(prepared) : prepared.run(running);
}

function prepareStep(step: ChangeStep, { context, findTool }: EditCall): PreparedCall | string {
  if (step.kind === 'delete') return prepareDelete(step.file, context);
  const name = step.kind === 'edit' ? 'Edit' : 'Write';
  return findTool(name)?.prepare(step.input, context) ?? `There is no ${name} tool here.`;
}

/** Edit was given extra lines to make the text unique; hooks see the texts that the model wrote. */
function restoreModelTexts(view: ToolView | undefined, output: ToolOutput): ToolOutput {
  const { response } = output;
  if (!isRecord(response) || !isRecord(view?.input) || !('oldString' in response)) return output;
  const { old_string: oldString, new_string: newString } = view.input;
  return { ...output, response: { ...response, oldString, newString } };
}

/** Deletes a file that the agent has read. Hooks see it as an Edit that replaces all text with nothing. */
function prepareDelete(file: string, context: ToolContext): PreparedCall | string {
  const found = openForEdit(file, context);
  if (typeof found === 'string') return found;
  if (found === null) return formatMissingFile(file, context.cwd());
  if (found.problem !== null) return found.problem;
  const before = normalizeLineEnds(found.content.text);
  return {
    input: { file_path: file, old_string: before, new_string: '', replace_all: false },
    run: () => deleteFile(file, before),
  };
}

async function deleteFile(file: string, before: string): Promise<ToolOutput> {
  try {
    unlinkSync(file);
  } catch (error) {
    return createFailedOutput(`Cannot delete ${file}: ${describeFileError(error)}.`);
  }
  return {
    response: {
      filePath: file,
      oldString: before,
      newString: '',
      originalFile: before,
      structuredPatch: await diffTexts(before, ''),
      userModified: false,
      replaceAll: false,
    },
    text: `Deleted ${file}`,
    success: true,
  };
}
