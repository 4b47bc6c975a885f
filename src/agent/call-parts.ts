import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { isRecord } from '../base/json.ts';
import { type ToolView, viewsOf } from '../tool-vocabularies/tool-views.ts';

/** A call as the model made it, under any of its tool's names. */
export interface CallToShow {
  readonly tool: string;
  readonly input: unknown;
  /** Where relative paths start. */
  readonly cwd: string;
}

/** One thing that the call does, in Claude's words; the path of a file is absolute. */
export interface CallPart {
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** What a call does, for whoever shows it to a person. */
export function callParts({ tool, input, cwd }: CallToShow): readonly CallPart[] {
  const context = { cwd, root: null, readText: currentText };
  return viewsOf({ name: tool, input }, 'claude', context).map((view) => partOf(view, cwd));
}

function partOf({ name, input }: ToolView, cwd: string): CallPart {
  const fields = isRecord(input) ? input : {};
  const file = fields['file_path'] ?? fields['notebook_path'];
  return {
    name,
    fields: typeof file === 'string' ? { ...fields, file_path: path.resolve(cwd, file) } : fields,
  };
}

const LARGEST_SHOWN_BYTES = 2_000_000;

/** A file's text as it is now; null when it is not there, or is nothing that a person would compare. */
export function currentText(file: string): string | null {
  try {
    const { size } = statSync(file);
    return size > LARGEST_SHOWN_BYTES ? null : readFileSync(file, 'utf8');
  } catch {
    // Whoever runs the call says what is wrong with the file.
    return null;
  }
}
