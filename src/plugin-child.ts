import { servePlugin } from './plugins/isolation/child/serve.ts';
import { loadPlugin } from './plugins/load/load-plugin.ts';
import { findProvidedModule } from './compat/cline/provided.ts';
import { setClineCoreLoader } from './compat/cline/provided/lazy-cline-core.ts';
import { collectRegistered } from './compat/cline/provided/registered-here.ts';

// Plugins may start sessions of their own, also from here.
setClineCoreLoader(async () => (await import('./compat/cline/cline-core.ts')).ClineCore);

// The process of one plugin, started by `loadIsolated`.
servePlugin(
  (order) => loadPlugin({ ...order, provided: findProvidedModule, copy: 'isolated' }),
  collectRegistered,
  () => process.exit(0),
);
