import type { ProvidedModules } from '../../../plugins/load/loading.ts';
import { setClineCoreLoader } from './core-slot.ts';

/** What Cline's packages export to plugins, `ClineCore` included; for programs that are no session themselves. */
export async function loadProvidedModules(): Promise<ProvidedModules> {
  setClineCoreLoader(async () => (await import('../cline-core.ts')).ClineCore);
  return (await import('../provided.ts')).findProvidedModule;
}
