import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll } from 'vitest';

/**
 * A storage that was used once makes every later promise of the process copy its value, until it is
 * disabled. Each server of aimock has a storage that it never disables, and test files share their
 * worker, so that the files of a worker would become slower and slower. A storage that is used again
 * enables itself.
 */
const used = new Set<AsyncLocalStorage<unknown>>();
const { run } = AsyncLocalStorage.prototype;

AsyncLocalStorage.prototype.run = function (this: AsyncLocalStorage<unknown>, ...args: unknown[]) {
  used.add(this);
  return Reflect.apply(run, this, args);
};

afterAll(() => {
  AsyncLocalStorage.prototype.run = run;
  for (const storage of used) storage.disable();
});
