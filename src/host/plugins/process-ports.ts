import { HooklineError } from '../../base/errors.ts';
import { getCurrentOwner } from '../../plugins/plugin-ownership.ts';
import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { inspect } from 'node:util';
import type { BasicLogger } from '../../plugins/contract/plugin.ts';
import { isRecord } from '../../base/json.ts';
import { getModuleRegistry, hasNoPlace, findOwner } from '../../plugins/load/module-instances.ts';
import { type OnIssue, createUncaughtIssues } from '../../plugins/diagnostic.ts';

let isBlocked = false;

/**
 * From now on `process.exit` throws PLUGIN_EXIT in code that a plugin of this process started: it would end
 * the agent, and all other plugins with it. Called by anybody else, it ends the process.
 */
export function blockExit(): void {
  if (isBlocked) return;
  isBlocked = true;
  const exit = process.exit.bind(process);
  // Without arguments it must be called without arguments: Node.js takes an explicit undefined for exit code 0.
  process.exit = (...codes) => {
    if (getCurrentOwner() === null) return exit(...codes);
    throw createExitError(codes[0]);
  };
}

function createExitError(code: string | number | null | undefined): HooklineError {
  const call = `process.exit(${code ?? ''})`;
  return new HooklineError('PLUGIN_EXIT', {
    message: `${call} was not done: it would have ended the agent, and not only this plugin`,
    hint: 'Throw an error, or return; or give plugins processes of their own: plugins.isolation "process".',
  });
}

type Line = (text: string) => void;

const listeners: Line[] = [];
let restore: (() => void) | null = null;

/**
 * Has what plugins write with `console` told instead of printed: whoever reads the program's own
 * output must find nothing else in it. Counts for all plugins of this process; the last one told wins.
 */
export function redirectConsole(onLine: Line): () => void {
  listeners.push(onLine);
  restore ??= replaceConsole();
  return () => {
    const place = listeners.indexOf(onLine);
    if (place >= 0) listeners.splice(place, 1);
    if (listeners.length > 0) return;
    restore?.();
    restore = null;
  };
}

function replaceConsole(): () => void {
  const sink = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      listeners.at(-1)?.(String(chunk).replace(/\n$/, ''));
      done();
    },
  });
  const { console: shared } = globalThis;
  const before = { ...shared };
  Object.assign(shared, new Console({ stdout: sink, stderr: sink }));
  return () => void Object.assign(shared, before);
}

type Metadata = Readonly<Record<string, unknown>> | undefined;

/**
 * Cline always gives plugins a logger. Where the program has none, the user is told what went wrong, and
 * the rest on demand.
 */
export function createConsoleLogger(
  print: (text: string, plugin: string) => void,
  { showsLog }: { readonly showsLog: boolean },
): BasicLogger {
  const report = (message: string, metadata: Metadata): void =>
    print(`${message}${formatMetadata(metadata)}`, String(metadata?.['pluginName']));
  const log = showsLog ? report : (): void => undefined;
  return { debug: log, log, error: report };
}

function formatMetadata(metadata: Metadata): string {
  // Whoever reads it is told by whom, and knows where; only programs need these as fields.
  const { pluginName: _, sessionId: __, ...facts } = metadata ?? {};
  const words = Object.entries(facts).map(([key, value]) => `${key}: ${formatValue(value)}`);
  return words.length === 0 ? '' : ` { ${words.join(', ')} }`;
}

function formatValue(value: unknown): string {
  return value instanceof Error
    ? String(value)
    : inspect(value, { compact: true, breakLength: Infinity });
}

/** A session as plugins speak to it without being asked. */
interface HostedSession {
  readonly sessionId: string;
  readonly emitEvent: (name: string, payload: unknown) => void;
}

const sessions: HostedSession[] = [];
const GLOBAL = '__clinePluginHost';

/**
 * Some plugins steer their session through a global object. It stands for all sessions of this
 * process: a plugin on disk that does not say which one it means gets its own, an object of the
 * program, which many sessions may share, the one that was opened last.
 */
export function installPluginHost(session: HostedSession): () => void {
  sessions.push(session);
  if (!(GLOBAL in globalThis)) {
    Reflect.set(globalThis, GLOBAL, Object.freeze({ emitEvent }));
  }
  return () => {
    const place = sessions.indexOf(session);
    if (place < 0) return;
    sessions.splice(place, 1);
    if (sessions.length === 0) Reflect.deleteProperty(globalThis, GLOBAL);
  };
}

function emitEvent(name: string, payload?: unknown): void {
  const wanted = isRecord(payload) ? payload['sessionId'] : undefined;
  const session =
    typeof wanted === 'string'
      ? sessions.findLast(({ sessionId }) => sessionId === wanted)
      : (findCallingSession() ?? sessions.at(-1));
  session?.emitEvent(name, payload);
}

/** Each session has a copy of a plugin's modules, and whoever calls stands in one of them. */
function findCallingSession(): HostedSession | undefined {
  if (sessions.length < 2) return undefined;
  const here = { stack: '' };
  Error.captureStackTrace(here, emitEvent);
  const copy = findInstance(here.stack);
  return sessions.find(({ sessionId }) => copy?.startsWith(`${sessionId}-`));
}

/** The copy of a plugin that a stack trace leads to, by the innermost call that stands in one; null when none takes part. */
function findInstance(stack: string): string | null {
  const places = [...getModuleRegistry().placed].flatMap(([copy, placed]) =>
    placed
      .flatMap(({ urls }) => [...urls.values()])
      // With the line that follows: the URL of one copy begins that of another.
      .map((url) => ({ copy, at: stack.indexOf(`${url}:`) })),
  );
  const found = places.filter(({ at }) => at >= 0).toSorted((one, other) => one.at - other.at);
  return found[0]?.copy ?? null;
}

type Report = (error: unknown) => void;

/** What each session is told with, by the file that was imported. */
type Watch = ReadonlyMap<string, Report>;

const watches = new Set<Watch>();
// Nothing unloads a module, and a session ends before the last timer of its plugins does.
const former = new Map<string, Report>();

/**
 * From now on an error that nothing catches, and whose stack leads to a file of one of these plugins (by
 * their entry files, each with a function that gives its name), is
 * told as theirs and survived; also one of a process or a connection that they began, whose stack leads to
 * no file. To every other error happens what would happen without this. The function that is returned says
 * that the session has ended: from then on it hears only of what no other session does.
 */
export function watchUncaught(
  plugins: ReadonlyMap<string, () => string>,
  onIssue: OnIssue,
): () => void {
  if (plugins.size === 0) return () => undefined;
  const watch: Watch = new Map(
    [...plugins].map(([file, getName]) => [file, createUncaughtIssues(getName, onIssue)]),
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
  const reporters = findReporters(error);
  if (reporters.length === 0) return;
  const report = (): void => reporters.forEach((each) => each(error));
  // Whoever has set one decides about every error himself.
  if (process.hasUncaughtExceptionCaptureCallback()) return report();
  // Takes this one error out of the way of Node.js and of listeners that would end the process.
  process.setUncaughtExceptionCaptureCallback(() => {
    process.setUncaughtExceptionCaptureCallback(null);
    report();
  });
}

/** Those of every session that has the plugin: which of them it happened in, nobody can tell. */
function findReporters(error: unknown): readonly Report[] {
  const stack = readStack(error);
  const owner = stack === null ? null : (findOwner(stack) ?? findStarter(stack));
  if (owner === null) return [];
  const open = [...watches].flatMap((watch) => watch.get(owner) ?? []);
  return open.length > 0 ? open : [former.get(owner)].filter((report) => report !== undefined);
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
