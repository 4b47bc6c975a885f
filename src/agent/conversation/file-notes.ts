import type { Verdict } from '../../hooks/decision.ts';
import type { HookEngine } from '../../hooks/engine.ts';
import type { EventName } from '../../hooks/facts.ts';
import type { ChangedFile, ReadTracker } from '../tools/files/read-tracker.ts';
import { diffTexts } from '../tools/files/structured-patch.ts';
import { decodeText, normalizeLineEnds } from '../tools/files/text-file.ts';
import { formatHookList, formatReminder } from './hook-messages.ts';

/**
 * The events after which the model is asked before it edits anything, so that it reads what hooks did to
 * its files. The agent waits for their hooks, and runs nothing else meanwhile.
 */
const EVENTS_BEFORE_REQUESTS: ReadonlySet<EventName> = new Set([
  'UserPromptSubmit',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'Stop',
  'SubagentStop',
  'TaskComplete',
]);

/** Lists the files that change from now on; null when hooks of the event cannot change any for the agent. */
export function watchReadFiles(
  readFiles: ReadTracker,
  engine: Pick<HookEngine, 'handles'>,
  event: EventName,
): (() => readonly ChangedFile[]) | null {
  const isWatched = EVENTS_BEFORE_REQUESTS.has(event) && engine.handles(event);
  return isWatched ? readFiles.watchFiles() : null;
}

/** Files that changed while hooks ran count as read; returns what the model is sent of the changes. */
export async function noteHookChanges(
  readFiles: ReadTracker,
  { outcomes }: Verdict,
  files: readonly ChangedFile[],
): Promise<readonly string[]> {
  const hooks = outcomes.filter(({ status }) => status !== 'background').map(({ hook }) => hook);
  if (hooks.length === 0) return [];
  const notes: string[] = [];
  for (const changed of files) {
    readFiles.markRead(changed.file, changed.after);
    notes.push(formatReminder(await describeChange(changed, hooks)));
  }
  return notes;
}

async function describeChange(changed: ChangedFile, hooks: readonly string[]): Promise<string> {
  const { file } = changed;
  const intro = `A hook changed ${file} after you read or wrote it. This is intended: work with the file as it is now, you need not read it again.`;
  const patch = await formatPatch(changed);
  const changes =
    patch === null
      ? 'The change is too long to be shown here: read the file where you need its content.'
      : `What changed:\n${patch}`;
  return `${intro} ${changes}${formatHookList(hooks)}`;
}

const MAX_PATCH_CHARACTERS = 8000;

/** Null when it is too long, or not text. */
async function formatPatch({ before, after }: ChangedFile): Promise<string | null> {
  const [old, current] = [before, after].map((bytes) =>
    bytes === null ? null : (decodeText(Buffer.from(bytes))?.text ?? null),
  );
  if (typeof old !== 'string' || typeof current !== 'string') return null;
  const hunks = await diffTexts(normalizeLineEnds(old), normalizeLineEnds(current));
  const text = hunks.map(formatHunk).join('\n');
  return text === '' || text.length > MAX_PATCH_CHARACTERS ? null : text;
}

function formatHunk({
  oldStart,
  oldLines,
  newStart,
  newLines,
  lines,
}: Awaited<ReturnType<typeof diffTexts>>[number]): string {
  return [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...lines].join('\n');
}
