import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { VERSION } from '../src/base/version.ts';

/** What the numbers depend on besides the code, one fact per line. */
export function describeMachine(peers: readonly string[]): string[] {
  const [cpu] = os.cpus();
  const [load = 0] = os.loadavg();
  const isBusy = load > os.cpus().length / 2;
  const busy = isBusy ? ' (busy with other things, which makes ratios too high)' : '';
  return [
    `CPU: ${cpu?.model.trim() ?? 'unknown'}, ${os.cpus().length} cores; load before: ${load.toFixed(1)}${busy}`,
    `system: ${os.type()} ${os.release()} ${os.arch()}`,
    `Node.js ${process.versions.node}, V8 ${process.versions.v8}`,
    `hookline ${VERSION}; peers: ${peers.join(', ') || 'none installed'}`,
  ];
}

/** The installed version of a package that only the bench uses, or null. */
export function readInstalledVersion(project: string, name: string): string | null {
  const file = path.join(project, 'bench', 'node_modules', name, 'package.json');
  try {
    const manifest: { version: string } = JSON.parse(readFileSync(file, 'utf8'));
    return `${name} ${manifest.version}`;
  } catch {
    return null;
  }
}
