import { isRecord } from '../../../base/json.ts';

/** As Node.js chooses for `import`. */
const CONDITIONS = ['node', 'node-addons', 'import', 'default', ...synchronous()];

/** Where Node.js can `require` ES modules it also knows those that are made for that. */
function synchronous(): readonly string[] {
  return process.features.require_module ? ['module-sync'] : [];
}

/**
 * What `exports` of a package.json say of a path (`.`, `./lib/a.js`), or `imports` of a name (`#a`): a
 * path inside the package, or for `imports` also another package. Null when they say nothing.
 */
export function mappedTarget(field: unknown, request: string): string | null {
  const table = isTable(field) ? field : { '.': field };
  if (Object.hasOwn(table, request) && !request.includes('*')) {
    return targetOf(table[request], '');
  }
  const pattern = Object.keys(table)
    .filter((key) => fits(key, request))
    .toSorted(bySpecificity)[0];
  if (pattern === undefined) return null;
  const [before = '', after = ''] = pattern.split('*');
  return targetOf(table[pattern], request.slice(before.length, request.length - after.length));
}

/** A table has paths as its keys; everything else is about the package as a whole. */
function isTable(field: unknown): field is Record<string, unknown> {
  return isRecord(field) && Object.keys(field).every((key) => /^[.#]/.test(key));
}

function fits(key: string, request: string): boolean {
  const [before = '', after, more] = key.split('*');
  if (after === undefined || more !== undefined) return false;
  return (
    request !== before &&
    request.startsWith(before) &&
    request.endsWith(after) &&
    request.length >= key.length
  );
}

function bySpecificity(one: string, other: string): number {
  return other.indexOf('*') - one.indexOf('*') || other.length - one.length;
}

/** The first that fits counts; a null forbids it. */
function targetOf(target: unknown, star: string): string | null {
  return findTarget(target, star) ?? null;
}

function findTarget(target: unknown, star: string): string | null | undefined {
  if (target === null) return null;
  if (typeof target === 'string') return target.replaceAll('*', () => star);
  if (Array.isArray(target)) return findFirst(target, star);
  if (!isRecord(target)) return undefined;
  const fitting = Object.keys(target).filter((key) => CONDITIONS.includes(key));
  for (const key of fitting) {
    const found = findTarget(target[key], star);
    if (found !== undefined) return found;
  }
  return undefined;
}

function findFirst(targets: readonly unknown[], star: string): string | null | undefined {
  for (const target of targets) {
    const found = findTarget(target, star);
    if (typeof found === 'string') return found;
  }
  return undefined;
}
