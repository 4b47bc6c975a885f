import { isRecord } from '../../../base/json.ts';
import type { ToolView } from '../../../tool-vocabularies/tool-views.ts';

/** The longest text that Cline's `editor` takes. */
const MAX_CHARACTERS = 6000;

/** What a call of `editor` does by the rules of Cline's SDK; a string says why it is refused. */
export function planSdkEdit(
  input: unknown,
  view: ToolView,
  readText: (file: string) => string | null,
): ToolView | string {
  const { old_text: oldText, new_text: newText, insert_line: line } = isRecord(input) ? input : {};
  const file = isRecord(view.input) ? view.input['file_path'] : undefined;
  if (typeof file !== 'string' || typeof newText !== 'string') return view;
  const long = Object.entries({ old_text: oldText, new_text: newText }).find(
    ([, text]) => typeof text === 'string' && text.length > MAX_CHARACTERS,
  );
  if (long !== undefined) {
    const [key, text] = long;
    return `${key} has ${String(text).length} characters, and at most ${MAX_CHARACTERS} fit into one call. Make several smaller changes.`;
  }
  const before = readText(file);
  if ((line ?? null) !== null) return checkInsertion(Number(line), file, before) ?? view;
  // A text to replace is beside the point where there is no file yet.
  if (before === null) {
    return { ...view, name: 'Write', input: { file_path: file, content: newText } };
  }
  if (oldText === '') return `old_text is empty, and ${file} exists. Give the text to replace.`;
  if (typeof oldText === 'string') return view;
  return `${file} already exists, and old_text is missing. Give the text to replace as old_text, or a line as insert_line.`;
}

function checkInsertion(line: number, file: string, before: string | null): string | null {
  if (before === null) return `${file} does not exist, so nothing can be inserted into it.`;
  const last = before.split('\n').length + 1;
  if (line >= 1 && line <= last) return null;
  return `expected insert_line to be from 1 to ${last} (${last} appends), found ${line}`;
}
