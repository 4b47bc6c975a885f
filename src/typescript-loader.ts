import path from 'node:path';
import { createJiti } from 'jiti';

// Run as `node typescript-loader.js HOOK.ts`: the hook must find itself as argv[1], as under any interpreter.
process.argv.splice(1, 1);
const hook = path.resolve(process.argv[1] ?? '');

// No cache on disk: its default place is shared by all users of the machine.
await createJiti(hook, { fsCache: false, moduleCache: false }).import(hook);
