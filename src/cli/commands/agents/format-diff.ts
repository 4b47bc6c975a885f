import { createTwoFilesPatch } from 'diff';
import type { ChangedFile } from '../../../agents/switch-agents.ts';
import { redactText } from '../../../host/redact-object.ts';

/** Lines around a change may hold keys, so that secrets are redacted unless the user wants them. */
export function formatDiff({ path: file, before, after }: ChangedFile, isRaw: boolean): string {
  const show = (text: string | null): string => (isRaw ? (text ?? '') : redactText(text ?? ''));
  const names = [before === null ? '/dev/null' : file, after === null ? '/dev/null' : file];
  const [from = file, to = file] = names;
  const patch = createTwoFilesPatch(from, to, show(before), show(after), undefined, undefined, {
    context: 3,
  });
  return patch.replace(/^Index: .*\n/, '').replace(/^=+\n/, '');
}
