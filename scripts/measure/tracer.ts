import { AsyncLocalStorage } from 'node:async_hooks';
import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Loaded before the program whose functions were instrumented. It records the tree of calls, with
 * AsyncLocalStorage, because the caller of an asynchronous function is no longer on the stack; which
 * parameters and results hold the tool call, the hook's answer or the plugin; and the milestones.
 */
const CALL = /call-marker/u;
const ANSWER = /answer-marker/u;
const HOOK_FILE = 'traced-hook.mjs';
const PAYLOAD = /"hook_event_name":"PreToolUse"/u;
const MAX_KEYS = 40;

interface RecordedCall {
  readonly id: string;
  readonly caller: number;
  readonly parametersHold: readonly boolean[];
  resultHolds: boolean;
}

const storage = new AsyncLocalStorage<number>();
const calls: RecordedCall[] = [];
const milestones: { what: string; call: number; at: number }[] = [];
const wrappers = new Map<object, string>();
const plugin: { hook?: unknown } = {};

Object.assign(globalThis, { __trace: trace, __tracedPlugin: plugin });
watchBuiltins();
process.on('exit', () => {
  const file = process.env['HOOKLINE_TRACE_FILE'];
  const text = JSON.stringify({ calls, milestones, wrappers: [...wrappers.values()] });
  if (file !== undefined) fs.writeFileSync(file, text);
});

function trace(id: string, run: () => unknown, parameters: readonly unknown[][]): unknown {
  const caller = storage.getStore() ?? -1;
  const parametersHold = parameters.map((bound) => holdsMarker(bound, 4));
  const call = calls.push({ id, caller, parametersHold, resultHolds: false }) - 1;
  for (const value of parameters.flat()) noteWrapper(value, id);
  const result = storage.run(call, run);
  const note = (value: unknown): void => noteResult(call, value);
  if (result instanceof Promise) result.then(note, () => undefined);
  else note(result);
  return result;
}

function noteResult(call: number, value: unknown): void {
  const recorded = calls[call];
  if (recorded === undefined) return;
  recorded.resultHolds = holdsMarker(value, 3);
  noteWrapper(value, recorded.id);
  const isVerdict = isObject(value) && 'effect' in value && 'outcomes' in value;
  if (isVerdict) milestones.push({ what: 'verdict', call, at: calls.length });
}

function holdsMarker(value: unknown, depth: number): boolean {
  return holds(value, depth, (each) =>
    typeof each === 'string' ? CALL.test(each) || ANSWER.test(each) : false,
  );
}

/** Whether a value is what is looked for, or has it in a property, so many properties down. */
function holds(value: unknown, depth: number, isWanted: (value: unknown) => boolean): boolean {
  if (isWanted(value)) return true;
  if (!isObject(value) || depth === 0) return false;
  if (Buffer.isBuffer(value)) return isWanted(value.toString('latin1', 0, 4000));
  const children: unknown[] =
    value instanceof Map
      ? [...value.values()]
      : Object.keys(value)
          .slice(0, MAX_KEYS)
          .map((key): unknown => Object.getOwnPropertyDescriptor(value, key)?.value);
  return children.some((child) => holds(child, depth - 1, isWanted));
}

/** An object around the plugin: not the plugin itself, its hooks, a list or a module. */
function noteWrapper(value: unknown, id: string): void {
  const { hook } = plugin;
  if (hook === undefined || !isObject(value) || wrappers.has(value)) return;
  const keys = Object.keys(value);
  const isPlugin = keys.includes('hooks') || keys.includes('beforeTool');
  const isModule = Object.prototype.toString.call(value) === '[object Module]';
  if (isPlugin || isModule || Array.isArray(value) || value instanceof Map) return;
  if (!holds(value, 3, (each) => each === hook)) return;
  wrappers.set(value, `{ ${keys.toSorted().join(', ')} } in ${id}`);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function watchBuiltins(): void {
  const mark = (what: string): void => {
    milestones.push({ what, call: storage.getStore() ?? -1, at: calls.length });
  };
  watch(childProcess, 'spawn', ({ args: [program, words] }) => {
    const line = `${String(program)} ${Array.isArray(words) ? words.join(' ') : ''}`;
    if (line.includes(HOOK_FILE)) mark('hook started');
    // What starts before the hook is a probe of the sandbox; the tool's command is no argument.
    else if (milestones.some(({ what }) => what === 'hook started')) mark('tool started');
  });
  watch(JSON, 'stringify', ({ result }) => {
    if (typeof result === 'string' && PAYLOAD.test(result)) mark('payload written');
  });
  watch(JSON, 'parse', ({ args: [text] }) => {
    if (typeof text === 'string' && ANSWER.test(text)) mark('answer read');
  });
  watch(RegExp.prototype, 'test', ({ self }) => {
    if (self instanceof RegExp && self.source.includes('Ba.h')) mark('matched');
  });
  for (const name of ['lstatSync', 'openSync']) {
    watch(fs, name, ({ args: [file] }) => {
      if (typeof file === 'string' && file.endsWith(HOOK_FILE)) mark('hook file looked at');
    });
  }
  syncBuiltinESMExports();
}

interface BuiltinCall {
  readonly self: unknown;
  readonly args: readonly unknown[];
  readonly result: unknown;
}

/** A proxy, because some of these functions have properties that their callers use. */
function watch(owner: object, name: string, note: (call: BuiltinCall) => void): void {
  const original: unknown = Reflect.get(owner, name);
  if (typeof original !== 'function') throw new Error(`${name} is no function`);
  const watched = new Proxy(original, {
    apply(target, self: unknown, args: readonly unknown[]) {
      const result: unknown = Reflect.apply(target, self, args);
      note({ self, args, result });
      return result;
    },
  });
  Reflect.set(owner, name, watched);
}
