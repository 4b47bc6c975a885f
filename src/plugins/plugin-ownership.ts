import { AsyncLocalStorage } from 'node:async_hooks';

// AsyncLocalStorage, because the stack of an error that a child process or a socket emits holds only files
// of Node.js: which plugin started it, only the async context still knows.
const currentOwner = new AsyncLocalStorage<string>();

/** Runs the code of a plugin: everything that it starts is attributed to its entry file. Null attributes nothing. */
export function runAsPlugin<Value>(file: string | null, work: () => Value): Value {
  return file === null ? work() : currentOwner.run(file, work);
}

/** The entry file of the plugin that started the code that runs now; null when no plugin did. */
export function getCurrentOwner(): string | null {
  return currentOwner.getStore() ?? null;
}
