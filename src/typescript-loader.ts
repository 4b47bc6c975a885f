import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createJiti } from 'jiti';
import { createBunStandIn } from './process/bun-stand-in.ts';

// Run as `node typescript-loader.js HOOK.ts`: the hook must find itself as argv[1], as under any interpreter.
process.argv.splice(1, 1);
const hook = path.resolve(process.argv[1] ?? '');
const source = readFileSync(hook, 'utf8');
const bun = createBunStandIn(source);
if (bun !== null && !('Bun' in globalThis)) Object.assign(globalThis, { Bun: bun });

// No cache on disk: its default place is shared by all users of the machine.
const jiti = createJiti(hook, { fsCache: false, moduleCache: false });
const ext = path.extname(hook).toLowerCase();
if (hook.endsWith(ext)) await jiti.import(hook);
else await evaluate();

/** Asked to import it, jiti would leave `HOOK.TS` to Node.js, which does not know what that is. */
async function evaluate(): Promise<void> {
  await jiti.evalModule(source, { filename: hook, id: hook, ext, async: true });
}
