import { servePlugin } from './plugins/isolation/child/serve.ts';
import { loadPlugin } from './plugins/load/load-plugin.ts';
import { providedModules } from './compat/cline/provided.ts';
import { offerClineCore } from './compat/cline/provided/core-slot.ts';
import { collectRegistered } from './compat/cline/provided/registered-here.ts';

// Plugins may start sessions of their own, also from here.
offerClineCore(async () => (await import('./compat/cline/cline-core.ts')).ClineCore);

// The process of one plugin, started by `openIsolated`.
servePlugin({
  load: (order) => loadPlugin({ ...order, provided: providedModules, copy: 'isolated' }),
  registeredHere: collectRegistered,
  exit: () => process.exit(0),
});
