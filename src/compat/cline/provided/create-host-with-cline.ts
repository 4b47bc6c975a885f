import {
  createHost as createBareHost,
  type Host,
  type HostOptions,
} from '../../../host/create-host.ts';
import type { ProvidedModules } from '../../../plugins/load/loading.ts';
import { setClineCoreLoader } from './lazy-cline-core.ts';

/** Creates a host whose plugins on disk can import Cline's packages. */
export async function createHostWithCline(options: HostOptions = {}): Promise<Host> {
  const plugins = { provided: loadProvidedModules, ...options.plugins };
  return createBareHost({ ...options, plugins });
}

/** Loads the exports of Cline's packages for plugins, with `ClineCore`. */
export async function loadProvidedModules(): Promise<ProvidedModules> {
  setClineCoreLoader(async () => (await import('../cline-core.ts')).ClineCore);
  return (await import('../provided.ts')).findProvidedModule;
}
