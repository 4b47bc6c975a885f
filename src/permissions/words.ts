import { truncateText, isRecord } from '../base/json.ts';
import type { PermissionCall } from './permissions.ts';

const MAX_SHOWN = 200;
const SUBJECTS = [
  ['command', 'with command'],
  ['file_path', 'on'],
  ['notebook_path', 'on'],
  ['url', 'on'],
  ['path', 'in'],
  ['subagent_type', 'for'],
  ['skill', 'for'],
] as const;

/** A call in a sentence: `Bash with command git push`, `Edit on /work/a.ts`. */
export function describeCall({ names, input }: PermissionCall): string {
  const [name = 'the tool'] = names;
  if (!isRecord(input)) return name;
  for (const [key, word] of SUBJECTS) {
    const said = input[key];
    if (typeof said === 'string') return `${name} ${word} ${shorten(said)}`;
  }
  return name;
}

function shorten(text: string): string {
  const line = truncateText(text, MAX_SHOWN + 1)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length <= MAX_SHOWN ? line : `${truncateText(line, MAX_SHOWN)}…`;
}
