import { HooklineError } from '../../base/errors.ts';
import { getCurrentOwner } from '../../plugins/plugin-ownership.ts';
import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { inspect } from 'node:util';
import type { BasicLogger } from '../../plugins/contract/plugin.ts';
import { isRecord } from '../../base/json.ts';
import { getModuleRegistry, hasNoPlace, findOwner } from '../../plugins/load/module-instances.ts';
import { type OnIssue, createUncaughtIssues } from '../../plugins/plugin-issue.ts';

// `process.exit`, `console`, uncaught errors and global objects exist once in a process, so that the variables of
// this module belong to all sessions.

let isBlocked = false;

/**
 * Makes `process.exit` throw PLUGIN_EXIT in code that a plugin of this process started, because it would
 * end the agent and all other plugins. Called by other code, it ends the process.
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
 * Passes what plugins write with `console` to `onLine` instead of printing it, because the program's own
 * output must stay parsable. Applies to all plugins of this process; the last caller wins.
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
 * Cline always passes a logger to plugins. Where the program has none, errors are shown to the user, and
 * the other records on demand.
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
  // The line names the plugin already, and the session is known; only programs need these fields.
  const { pluginName: _, sessionId: __, ...facts } = metadata ?? {};
  const words = Object.entries(facts).map(([key, value]) => `${key}: ${formatValue(value)}`);
  return words.length === 0 ? '' : ` { ${words.join(', ')} }`;
}

function formatValue(value: unknown): string {
  return value instanceof Error
    ? String(value)
    : inspect(value, { compact: true, breakLength: Infinity });
}

/** A session that plugins can send prompts to. */
interface HostedSession {
  readonly sessionId: string;
  readonly emitEvent: (name: string, payload: unknown) => void;
}

const sessions: HostedSession[] = [];
const GLOBAL = '__clinePluginHost';

/**
 * Some plugins steer their session through a global object, which serves all sessions of this process. For
 * a plugin on disk without a session id, it is the session of that plugin's copy; for an object of the
 * program, which many sessions may share, it is the session that was opened last.
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
  const requestedId = isRecord(payload) ? payload['sessionId'] : undefined;
  const session =
    typeof requestedId === 'string'
      ? sessions.findLast(({ sessionId }) => sessionId === requestedId)
      : (findCallingSession() ?? sessions.at(-1));
  session?.emitEvent(name, payload);
}

/** Each session has its own copy of a plugin's modules, so the stack trace of the caller names the session. */
function findCallingSession(): HostedSession | undefined {
  if (sessions.length < 2) return undefined;
  const here = { stack: '' };
  Error.captureStackTrace(here, emitEvent);
  const copy = findInstance(here.stack);
  return sessions.find(({ sessionId }) => copy?.startsWith(`${sessionId}-`));
}

/** The copy of a plugin in a stack trace, by the innermost frame in one of its modules; null when there is none. */
function findInstance(stack: string): string | null {
  const places = [...getModuleRegistry().placed].flatMap(([copy, placed]) =>
    placed
      .flatMap(({ urls }) => [...urls.values()])
      // With the colon before the line number, because the URL of one copy may be a prefix of another's.
      .map((url) => ({ copy, at: stack.indexOf(`${url}:`) })),
  );
  const found = places.filter(({ at }) => at >= 0).toSorted((one, other) => one.at - other.at);
  return found[0]?.copy ?? null;
}

type Report = (error: unknown) => void;

/** The report function of each plugin of a session, by its entry file. */
type Watch = ReadonlyMap<string, Report>;

const watches = new Set<Watch>();
// Modules are never unloaded, and timers of a plugin may fire after its session has ended.
const former = new Map<string, Report>();

/**
 * Catches every uncaught error whose stack leads to a file of one of these plugins (entry file to a function
 * that returns the plugin's name), and reports it instead of ending the process; also an error of a child
 * process or a connection that a plugin started, whose stack has no file. Other errors are handled as usual.
 * The returned function marks the session as ended: from then on it gets only errors that no other gets.
 */
export function watchUncaught(
  plugins: ReadonlyMap<string, () => string>,
  onIssue: OnIssue,
): () => void {
  if (plugins.size === 0) return () => undefined;
  const watch: Watch = new Map(
    [...plugins].map(([file, getName]) => [file, createUncaughtIssues(getName, onIssue)]),
  );
  // A monitor, because a listener for `uncaughtException` would keep Node.js from exiting on any error.
  if (watches.size === 0 && former.size === 0) {
    process.on('uncaughtExceptionMonitor', handleUncaught);
  }
  watches.add(watch);
  return () => {
    watches.delete(watch);
    for (const [file, report] of watch) former.set(file, report);
  };
}

/** Called before all other listeners, and before Node.js exits. */
function handleUncaught(error: unknown): void {
  const reporters = findReporters(error);
  if (reporters.length === 0) return;
  const report = (): void => reporters.forEach((each) => each(error));
  // The program that set the callback handles every error itself.
  if (process.hasUncaughtExceptionCaptureCallback()) return report();
  // Handles this one error, so that neither Node.js nor another listener ends the process.
  process.setUncaughtExceptionCaptureCallback(() => {
    process.setUncaughtExceptionCaptureCallback(null);
    report();
  });
}

/** All sessions that have the plugin, because the session of an error is unknown. */
function findReporters(error: unknown): readonly Report[] {
  const stack = readStack(error);
  const owner = stack === null ? null : (findOwner(stack) ?? findStarter(stack));
  if (owner === null) return [];
  const open = [...watches].flatMap((watch) => watch.get(owner) ?? []);
  return open.length > 0 ? open : [former.get(owner)].filter((report) => report !== undefined);
}

/** Only for a stack without any file, because a file of other code would be the cause. */
function findStarter(stack: string): string | null {
  return hasNoPlace(stack) ? getCurrentOwner() : null;
}

/** Any value can be thrown. */
function readStack(error: unknown): string | null {
  try {
    const stack: unknown = error instanceof Error ? error.stack : null;
    return typeof stack === 'string' ? stack : null;
  } catch {
    return null;
  }
}
