import { equal } from 'node:assert/strict';
import { runScript } from '../run-hookline.ts';

equal(
  runScript(import.meta.dirname, 'agent.mjs', ['What', 'is', 'on', 'the', 'list?']),
  String.raw`Let me look.
> run_commands {"commands":["cat list.txt"]}
< [{"query":"cat list.txt","result":"milk\nbread","success":true}]
Two things are on the list.
[completed after 2 turns]
[ended: completed]
`,
);
