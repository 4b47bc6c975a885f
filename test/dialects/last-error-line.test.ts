import { expect, test } from 'vitest';
import { formatLastErrorLine } from '../../src/dialects/command-handler.ts';

test.each([
  ['', ''],
  ['one\ntwo\n\n', ': two'],
  ['Traceback (most recent call last):\nValueError: 1\n', ': ValueError: 1'],
  [
    'a.js:1\na.b()\n  ^\n\nTypeError: a is undefined\n    at a.js:1:2\n\nNode.js v20.20.2\n',
    ': TypeError: a is undefined',
  ],
  [
    'node:internal:1\n  throw e;\n  ^\n\nError [ERR_X]: no such module\n    at b {\n  code: 1\n}\n\nNode.js v22.1.0',
    ': Error [ERR_X]: no such module',
  ],
  [
    'node:internal:1\n  ^\n\nUnhandledPromiseRejection: The promise rejected.\n    at b\n\nNode.js v24.0.0',
    ': UnhandledPromiseRejection: The promise rejected.',
  ],
  ['Node.js v20.20.2', ': Node.js v20.20.2'],
])('the last error line of %j', (output, report) => {
  expect(formatLastErrorLine(output)).toBe(report);
});
