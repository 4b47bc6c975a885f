import type { PluginEntry } from '../../../plugins/entry.ts';
import { type OnIssue, createUncaughtIssues } from '../../../plugins/diagnostic.ts';
import { hasNoPlace, findOwner } from '../../../plugins/load/module-instances.ts';
import { getCurrentOwner } from '../../../plugins/plugin-ownership.ts';

/** A plugin that lives in this process. */
export interface WatchedPlugin {
  /** Its own name, once that is known. */
  readonly getName: () => string;
  readonly entry: PluginEntry;
}

type Report = (error: unknown) => void;

/** What each session is told with, by the file that was imported. */
type Watch = ReadonlyMap<string, Report>;

const watches = new Set<Watch>();
// Nothing unloads a module, and a session ends before the last timer of its plugins does.
const former = new Map<string, Report>();

/**
 * From now on an error that nothing catches, and whose stack leads to a file of one of these plugins, is
 * told as theirs and survived; also one of a process or a connection that they began, whose stack leads to
 * no file. To every other error happens what would happen without this. The function that is returned says
 * that the session has ended: from then on it hears only of what no other session does.
 */
export function watchUncaught(plugins: readonly WatchedPlugin[], onIssue: OnIssue): () => void {
  if (plugins.length === 0) return () => undefined;
  const watch: Watch = new Map(
    plugins.map(({ getName, entry }) => [entry.file, createUncaughtIssues(getName, onIssue)]),
  );
  // Only a monitor: with a listener for the error itself, Node.js would end for none any more.
  if (watches.size === 0 && former.size === 0) {
    process.on('uncaughtExceptionMonitor', handleUncaught);
  }
  watches.add(watch);
  return () => {
    watches.delete(watch);
    for (const [file, tell] of watch) former.set(file, tell);
  };
}

/** Called before anybody else learns of the error, and before Node.js decides what becomes of it. */
function handleUncaught(error: unknown): void {
  const tellers = findReporters(error);
  if (tellers.length === 0) return;
  const tell = (): void => tellers.forEach((each) => each(error));
  // Whoever has set one decides about every error himself.
  if (process.hasUncaughtExceptionCaptureCallback()) return tell();
  // Takes this one error out of the way of Node.js and of listeners that would end the process.
  process.setUncaughtExceptionCaptureCallback(() => {
    process.setUncaughtExceptionCaptureCallback(null);
    tell();
  });
}

/** Those of every session that has the plugin: which of them it happened in, nobody can tell. */
function findReporters(error: unknown): readonly Report[] {
  const stack = readStack(error);
  const owner = stack === null ? null : (findOwner(stack) ?? findStarter(stack));
  if (owner === null) return [];
  const open = [...watches].flatMap((watch) => watch.get(owner) ?? []);
  return open.length > 0 ? open : [former.get(owner)].filter((tell) => tell !== undefined);
}

/** Only of what nobody's file is in: others have begun it for reasons of their own. */
function findStarter(stack: string): string | null {
  return hasNoPlace(stack) ? getCurrentOwner() : null;
}

/** Whatever can be thrown was. */
function readStack(error: unknown): string | null {
  try {
    const stack: unknown = error instanceof Error ? error.stack : null;
    return typeof stack === 'string' ? stack : null;
  } catch {
    return null;
  }
}
