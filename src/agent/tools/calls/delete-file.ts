import { unlinkSync } from 'node:fs';
import { openForChange } from '../files/changeable-file.ts';
import { sayFileError, sayMissing } from '../files/look-into.ts';
import { diffTexts } from '../files/structured-patch.ts';
import { withPlainLineEnds } from '../files/text-file.ts';
import { failedOutput, type PreparedCall, type ToolOutput } from '../tool.ts';
import type { Workbench } from '../workbench.ts';

/** Deletes a file that the agent has seen, which hooks know as an Edit of all its text to nothing. */
export function prepareDelete(file: string, bench: Workbench): PreparedCall | string {
  const found = openForChange(file, bench);
  if (typeof found === 'string') return found;
  if (found === null) return sayMissing(file, bench.cwd());
  if (found.unseen !== null) return found.unseen;
  const before = withPlainLineEnds(found.content.text);
  return {
    input: { file_path: file, old_string: before, new_string: '', replace_all: false },
    run: () => deleteFile(file, before),
  };
}

async function deleteFile(file: string, before: string): Promise<ToolOutput> {
  try {
    unlinkSync(file);
  } catch (error) {
    return failedOutput(`Cannot delete ${file}: ${sayFileError(error)}.`);
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
