import {
  createHost as createBareHost,
  type Host,
  type HostOptions,
} from '../../../host/create-host.ts';
import type { ProvidedModules } from '../../../plugins/load/loading.ts';
import { setClineCoreLoader } from './core-slot.ts';

/** Joins everything: configuration, trust, dialects, plugins, engine, trace. Plugins on disk find Cline's packages here. */
export async function createHost(options: HostOptions = {}): Promise<Host> {
  const plugins = { provided: loadProvidedModules, ...options.plugins };
  return createBareHost({ ...options, plugins });
}

/** What Cline's packages export to plugins, `ClineCore` included; for programs that are no session themselves. */
export async function loadProvidedModules(): Promise<ProvidedModules> {
  setClineCoreLoader(async () => (await import('../cline-core.ts')).ClineCore);
  return (await import('../provided.ts')).findProvidedModule;
}
