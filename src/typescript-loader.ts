import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createJiti } from 'jiti';

// Run as `node typescript-loader.js HOOK.ts`: the hook must find itself as argv[1], as under any interpreter.
process.argv.splice(1, 1);
const hook = path.resolve(process.argv[1] ?? '');

// No cache on disk: its default place is shared by all users of the machine.
const jiti = createJiti(hook, { fsCache: false, moduleCache: false });
const ext = path.extname(hook).toLowerCase();
if (hook.endsWith(ext)) await jiti.import(hook);
else await evaluate();

/** Asked to import it, jiti would leave `HOOK.TS` to Node.js, which does not know what that is. */
async function evaluate(): Promise<void> {
  const source = readFileSync(hook, 'utf8');
  await jiti.evalModule(source, { filename: hook, id: hook, ext, async: true });
}
