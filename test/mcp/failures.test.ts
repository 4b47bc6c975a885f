import { expect, test } from 'vitest';
import { extractErrorText } from '../../src/mcp/failures.ts';

test.each([
  [
    'node:internal\n\nError: Cannot find module x\n    at y\n\nNode.js v20',
    'Error: Cannot find module x',
  ],
  ['Traceback\n  raise ValueError("a")\nValueError: a\n', 'ValueError: a'],
  ['java.io.IOException: closed\n\tat z', 'java.io.IOException: closed'],
  ['1\n2\n3\n4\n5\n6\n', '2\n3\n4\n5\n6'],
  [
    'npm error code E404\nnpm error 404 Not Found - GET https://r/x\nnpm error 404\nnpm error 404  x\nnpm notice\nnpm notice New version\nnpm error A complete log of this run can be found in: /l\n',
    'npm error code E404, 404 Not Found - GET https://r/x',
  ],
  [
    'npm ERR! code ENOTFOUND\nnpm ERR! syscall getaddrinfo\n',
    'npm error code ENOTFOUND, syscall getaddrinfo',
  ],
  ['', ''],
])('the meaningful part of %j is %j', (text, words) => {
  expect(extractErrorText(text)).toBe(words);
});
