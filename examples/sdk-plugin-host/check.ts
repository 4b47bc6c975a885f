import { equal } from 'node:assert/strict';
import { runScript } from '../run-hookline.ts';

equal(
  runScript(import.meta.dirname, 'host.mjs'),
  `what_day: {"day":"Monday","in":"workspace"}
greet: "Hello, Ada!"
run_commands: {"error":"pushing is for people"}
[clock] completed after 3 turns
completed: It is Monday.
`,
);
