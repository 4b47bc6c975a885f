import { equal } from 'node:assert/strict';
import { runScript } from '../run-hookline.ts';

equal(
  runScript(import.meta.dirname, 'host.mjs'),
  `Ada: Hello, Ada.
Ada: Still here, Ada.
Bob: Hello, Bob.
messages: 4 2
after stop: session_not_found
`,
);
