import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

const REFERENCE = /(?:from|import\()\s*['"](\.[^'"]+)['"]/g;

/** Removes the declarations that no entry point leads to: nobody can import those modules. */
export function pruneDeclarations(directory: string, entries: readonly string[]): void {
  const reachable = new Set<string>();
  const waiting = entries.map((entry) => path.resolve(directory, entry));
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (reachable.has(file)) continue;
    reachable.add(file);
    waiting.push(...listReferences(file));
  }
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    const file = path.resolve(directory, name);
    if (name.endsWith('.d.ts') && !reachable.has(file)) rmSync(file);
  }
}

function listReferences(file: string): readonly string[] {
  return [...readFileSync(file, 'utf8').matchAll(REFERENCE)].map(([, written = '']) => {
    const target = path.resolve(path.dirname(file), written.replace(/\.[jt]s$/, '.d.ts'));
    if (!existsSync(target)) throw new Error(`${file} refers to ${written}, which is not built`);
    return target;
  });
}
