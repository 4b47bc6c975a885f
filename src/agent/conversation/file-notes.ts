import type { Verdict } from '../../hooks/decision.ts';
import type { EventName } from '../../hooks/facts.ts';
import type { SessionContext } from '../session-context.ts';
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

/** An agent as far as it reads files. */
interface FileReader {
  readonly parent: FileReader | null;
  readonly session: Pick<SessionContext, 'engine'>;
  readonly toolContext: { readonly readFiles: ReadTracker };
  /** What its model is told before the next request. */
  readonly fileNotes: string[];
}

/**
 * Begins to watch the files that an agent has read, and those of the agents that wait for it. The function that
 * it returns is called with the verdict: files that changed meanwhile count as read, and each model is sent
 * what changed. Null when no hook runs.
 */
export function watchHookChanges(
  agent: FileReader,
  event: EventName,
): ((verdict: Verdict) => Promise<void>) | null {
  if (!agent.session.engine.handles(event)) return null;
  const readers = EVENTS_BEFORE_REQUESTS.has(event) ? [agent] : [];
  // Whatever the event is, they ask their models before they edit anything.
  for (let { parent } = agent; parent !== null; { parent } = parent) readers.push(parent);
  const watched = readers.map((reader) => ({
    reader,
    listChanges: reader.toolContext.readFiles.watchFiles(),
  }));
  return async (verdict) => {
    const hooks = listWaitedHooks(verdict);
    if (hooks.length === 0) return;
    for (const { reader, listChanges } of watched) {
      for (const changed of listChanges()) {
        reader.toolContext.readFiles.markRead(changed.file, changed.after);
        reader.fileNotes.push(formatReminder(await describeChange(changed, hooks)));
      }
    }
  };
}

function listWaitedHooks({ outcomes }: Verdict): readonly string[] {
  return outcomes.filter(({ status }) => status !== 'background').map(({ hook }) => hook);
}

async function describeChange(changed: ChangedFile, hooks: readonly string[]): Promise<string> {
  const { file } = changed;
  const intro = `A hook changed ${file} after you read or wrote it. This is intended: work with the file as it is now, you need not read it again in this run.`;
  return `${intro} ${await describeContent(changed)}${formatHookList(hooks)}`;
}

async function describeContent({ before, after }: ChangedFile): Promise<string> {
  const [old, current] = [before, after].map((bytes) =>
    bytes === null ? null : (decodeText(Buffer.from(bytes))?.text ?? null),
  );
  if (typeof old !== 'string' || typeof current !== 'string') return TOO_LONG;
  const hunks = await diffTexts(normalizeLineEnds(old), normalizeLineEnds(current));
  if (hunks.length === 0) return 'Only its line ends or its encoding changed.';
  const text = hunks.map(formatHunk).join('\n');
  return text.length > MAX_PATCH_CHARACTERS ? TOO_LONG : `What changed:\n${text}`;
}

const TOO_LONG =
  'The change is too long to be shown here: read the file where you need its content.';
const MAX_PATCH_CHARACTERS = 8000;

function formatHunk({
  oldStart,
  oldLines,
  newStart,
  newLines,
  lines,
}: Awaited<ReturnType<typeof diffTexts>>[number]): string {
  return [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...lines].join('\n');
}
