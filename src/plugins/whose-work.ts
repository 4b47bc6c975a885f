import { AsyncLocalStorage } from 'node:async_hooks';

// An error of a child process or a socket that nobody listens to has a stack of Node.js's own files only:
// whose it is, only that can tell which is handed on from what began it.
const underWay = new AsyncLocalStorage<string>();
const owners = new WeakMap<object, string>();

/** Does something in the name of the plugin with this entry file: what is begun by it is known as its own. */
export function inNameOf<Value>(file: string, work: () => Value): Value {
  return underWay.run(file, work);
}

/** From now on this is a part of the plugin with this entry file. */
export function claimFor(file: string, part: unknown): void {
  if (typeof part === 'object' && part !== null) owners.set(part, file);
}

/** What a plugin has contributed is a part of it, too; nothing to know of objects that the program gave. */
export function claimLike(plugin: object, parts: readonly unknown[]): void {
  const file = owners.get(plugin);
  if (file === undefined) return;
  for (const part of parts) claimFor(file, part);
}

/** Whether it is a part of a plugin that has a file. */
export function isClaimed(part: object): boolean {
  return owners.has(part);
}

/** Calls a part of a plugin in the plugin's name. */
export function asItsOwn<Value>(part: object, work: () => Value): Value {
  const file = owners.get(part);
  return file === undefined ? work() : underWay.run(file, work);
}

/** The entry file of the plugin that began what goes on now; null when none did. */
export function beginner(): string | null {
  return underWay.getStore() ?? null;
}
