import {
  createHost as createBareHost,
  type Host,
  type HostOptions,
} from '../../../host/create-host.ts';
import { loadProvidedModules } from './load-provided.ts';

/** Joins everything: configuration, trust, dialects, plugins, engine, trace. Plugins on disk find Cline's packages here. */
export async function createHost(options: HostOptions = {}): Promise<Host> {
  const plugins = { provided: loadProvidedModules, ...options.plugins };
  return createBareHost({ ...options, plugins });
}
