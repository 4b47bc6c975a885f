import { type Host, type HostOptions, type ImportSessions, openHost } from './host.ts';

export type { Host, HostOptions } from './host.ts';

/** Creates a host that runs agents, too. */
export async function createHost(options: HostOptions = {}): Promise<Host> {
  return openHost(options, importSessions);
}

const importSessions: ImportSessions = async (host) => {
  const { createSessions } = await import('./agent/sessions.ts');
  return createSessions(host());
};
