import { HooklineError } from '../../base/errors.ts';
import type { RemoveEntry } from '../../dialects/dialect.ts';
import type { DiscoveredUnit } from '../../dialects/discovery.ts';
import { edited, openHooksFile } from '../../dialects/hooks-file.ts';
import { indent, oneLine, printable } from '../words/print.ts';

/** How a hook is taken away. */
export interface Removal {
  /** What the person should see before they answer. */
  readonly shown: readonly string[];
  readonly question: string;
  readonly remove: () => void;
  /** What was done, as a sentence and as JSON. */
  readonly done: string;
  readonly result: Readonly<Record<string, unknown>>;
}

/** Takes an entry out of its settings file, in the way that its dialect knows. */
export function entryRemoval(
  hook: DiscoveredUnit,
  matcher: string | null,
  removeEntry: RemoveEntry | undefined,
): Removal {
  const { path: file, line, root, eventName } = hook;
  if (line === null || !file.endsWith('.json')) throw byHand(hook);
  const opened = openHooksFile(file, root);
  if (opened.text === '') throw notAFile(hook);
  const removed = edited(file, () => removeEntry?.(hook, opened.text) ?? null);
  if (removed === null) throw byHand(hook);
  const where = `${oneLine(file)}:${line}`;
  const shown = removed.entry.split('\n').map(printable).join('\n');
  const scripts = scriptsOf(hook);
  return {
    shown: [`${where}\n${indent(shown, '  ')}`],
    question: `Remove this ${eventName} entry from ${oneLine(file)}?`,
    remove: () => opened.write(removed.text),
    done: [`Removed the entry at ${where}.`, ...stays(scripts)].join('\n'),
    result: { removed: { file, line, event: eventName, matcher }, kept: scripts },
  };
}

/** What it ran may serve others, so it is not deleted. */
function scriptsOf({ binds }: DiscoveredUnit): readonly string[] {
  return binds.files.filter((file) => /\.\w+$/.test(file));
}

function stays(scripts: readonly string[]): readonly string[] {
  if (scripts.length === 0) return [];
  const verb = scripts.length === 1 ? 'stays' : 'stay';
  return [`What it ran ${verb}: ${scripts.map(oneLine).join(', ')}`];
}

function byHand({ id, path: file, line }: DiscoveredUnit): HooklineError {
  return new HooklineError('CONFIG_INVALID', {
    message: `${id} stands at ${file}:${line}, where it cannot be removed without touching what is around it`,
    hint: `Edit the file by hand, or say \`hookline hooks disable ${id}\`.`,
  });
}

function notAFile({ id }: DiscoveredUnit): HooklineError {
  return new HooklineError('USAGE_INVALID', {
    message: `${id} was given on the command line: there is no file to remove it from`,
    hint: 'Leave it out of --settings.',
  });
}
