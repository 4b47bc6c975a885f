import { expect, test } from 'vitest';
import { lazyClineCore } from '../../../../src/compat/cline/provided/lazy-cline-core.ts';

class ClineCore {
  readonly sessions = [];
}

test('only objects of a class named ClineCore are its instances', () => {
  expect(new ClineCore() instanceof lazyClineCore).toBe(true);
  expect({} instanceof lazyClineCore).toBe(false);
});

test('an object without a prototype is no instance', () => {
  expect(Object.create(null) instanceof lazyClineCore).toBe(false);
});
