import { readTextIfPresent } from '../base/files.ts';
import path from 'node:path';
import { isRecord } from '../base/json.ts';
import { type ToolView, listToolViews } from '../tool-vocabularies/tool-views.ts';

/** A call as the model made it, under any of its tool's names. */
export interface ToolCallInput {
  readonly tool: string;
  readonly input: unknown;
  /** Where relative paths start. */
  readonly cwd: string;
}

/** One part of a call as users see it, in Claude's vocabulary; file paths are absolute. */
export interface DisplayPart {
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The parts of a call, for displaying it. */
export function listCallParts({ tool, input, cwd }: ToolCallInput): readonly DisplayPart[] {
  const context = { cwd, root: null, readText: readCurrentText };
  return listToolViews({ name: tool, input }, 'claude', context).map((view) => toPart(view, cwd));
}

function toPart({ name, input }: ToolView, cwd: string): DisplayPart {
  const fields = isRecord(input) ? input : {};
  const file = fields['file_path'] ?? fields['notebook_path'];
  return {
    name,
    fields: typeof file === 'string' ? { ...fields, file_path: path.resolve(cwd, file) } : fields,
  };
}

const LARGEST_SHOWN_BYTES = 2_000_000;

/** A file's current text; null when it does not exist or is too large for a diff. */
export function readCurrentText(file: string): string | null {
  try {
    return readTextIfPresent(file, LARGEST_SHOWN_BYTES);
  } catch {
    // The call itself reports what is wrong with the file.
    return null;
  }
}
