import { HooklineError } from '../../base/errors.ts';
import { type EntryAddress, removeEntry } from '../../dialects/claude-config/config/edit.ts';
import { entryText } from '../../dialects/claude-config/config/entry-text.ts';
import { isClaudeEvent } from '../../dialects/claude-config/names.ts';
import type { DiscoveredUnit } from '../../dialects/discovery.ts';
import { indent, oneLine, printable } from '../words/print.ts';
import { entryLines, entryOf } from '../../dialects/claude-config/written-entry.ts';
import { edited, openHooksFile } from '../../dialects/hooks-file.ts';

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

/** Takes an entry out of its settings file; comments and all other entries stay. */
export function entryRemoval(hook: DiscoveredUnit, matcher: string | null): Removal {
  const { path: file, line, root, eventName } = hook;
  if (line === null || !file.endsWith('.json')) throw byHand(hook);
  const opened = openHooksFile(file, root);
  if (opened.text === '') throw notAFile(hook);
  const address = addressOf(hook, line);
  const changed = edited(file, () => removeEntry(opened.text, address));
  const where = `${oneLine(file)}:${line}`;
  const scripts = scriptsOf(hook);
  return {
    shown: [`${where}\n${indent(shownEntry(hook, opened.text), '  ')}`],
    question: `Remove this ${eventName} entry from ${oneLine(file)}?`,
    remove: () => opened.write(changed),
    done: [`Removed the entry at ${where}.`, ...stays(scripts)].join('\n'),
    result: { removed: { file, line, event: eventName, matcher }, kept: scripts },
  };
}

/** An entry that cannot run is known by its line alone. */
function addressOf(hook: DiscoveredUnit, line: number): EntryAddress {
  const entry = entryOf(hook);
  if (entry === null) {
    if (!isClaudeEvent(hook.eventName)) throw byHand(hook);
    return { event: hook.eventName, line };
  }
  const { event, matcher, handler, source } = entry;
  const text = entryText({ event, matcher, agentType: undefined, handler }, source);
  return { event, line, source, text };
}

function shownEntry(hook: DiscoveredUnit, text: string): string {
  const entry = entryOf(hook);
  const lines =
    entry === null ? [text.split('\n')[(hook.line ?? 1) - 1] ?? ''] : [entryLines(entry)];
  return lines.flatMap((each) => each.split('\n').map(printable)).join('\n');
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
