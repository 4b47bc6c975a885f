import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Surroundings } from '../dialects/machine.ts';
import { getStateDirectory } from './surroundings.ts';

/** Where Linux keeps the id of an installation. */
const SYSTEM_FILES = ['/var/lib/dbus/machine-id', '/etc/machine-id'];

/**
 * An id of this machine that stays the same, and tells nothing else about it: that of the system, hashed as Cline
 * does it, or one that is made once. Null when nothing can be stored.
 */
export function getMachineId(surroundings: Surroundings): string | null {
  const state = getStateDirectory(surroundings);
  if (state === null) return null;
  const files = surroundings.platform === 'linux' ? SYSTEM_FILES : [];
  const [own] = files.flatMap((file) => readId(file) ?? []);
  if (own !== undefined) return createHash('sha256').update(own.toLowerCase()).digest('hex');
  const file = path.join(state, 'machine-id');
  return readId(file) ?? createId(file);
}

function readId(file: string): string | null {
  try {
    const id = readFileSync(file, 'utf8').trim();
    return id === '' ? null : id;
  } catch {
    // There is none.
    return null;
  }
}

/** Another process may create it at the same time: the first one's counts. */
function createId(file: string): string | null {
  const id = randomUUID();
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, `${id}\n`, { flag: 'wx', mode: 0o600 });
    return id;
  } catch {
    return readId(file);
  }
}
