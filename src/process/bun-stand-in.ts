import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';

/**
 * What hooks written for bun use of it to read their input, for the process of a hook where bun is not
 * installed. Null for a text that does not name Bun, or that looks for it and has a way without it.
 */
export function createBunStandIn(source: string): object | null {
  if (!/\bBun\s*[.[]/u.test(source)) return null;
  if (LOOKS_FOR_BUN.test(source)) return null;
  const stdin = toFile(() => readAll(process.stdin));
  const known = {
    stdin,
    file: (place: string | URL | number) => (place === 0 ? stdin : openFile(place)),
  };
  return new Proxy(known, { get: readMember });
}

const LOOKS_FOR_BUN = /typeof\s+Bun\b|globalThis\s*\.?\s*\[?["']?Bun\b|versions\s*\.\s*bun\b/u;

/** A missing member is the error that bun's absence is, so that it is a failure and not a silent pass. */
function readMember(known: object, name: string | symbol): unknown {
  if (typeof name === 'symbol' || name in known) return Reflect.get(known, name);
  throw new ReferenceError(`Bun is not defined: Bun.${name} needs bun, which is not installed`);
}

function toFile(read: () => Promise<string>) {
  return { text: read, json: async (): Promise<unknown> => JSON.parse(await read()) };
}

function openFile(place: string | URL | number) {
  const file = place instanceof URL ? place : String(place);
  return { ...toFile(() => readFile(file, 'utf8')), exists: async () => existsSync(file) };
}
