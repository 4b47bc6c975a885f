import { readFileSync, writeFileSync } from 'node:fs';

// A registry that mirrors one platform only makes npm leave the builds for all others out of
// the lock file, and then npm ci refuses that file everywhere. This writes them back.

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Lock {
  readonly packages: Record<string, LockedPackage>;
}

const LIBC: Readonly<Record<string, string>> = {
  gnu: 'glibc',
  gnueabihf: 'glibc',
  musl: 'musl',
  musleabihf: 'musl',
};

const LOCK_FILE = 'package-lock.json';
const lock: Lock = JSON.parse(readFileSync(LOCK_FILE, 'utf8'));
const missing = Object.entries(lock.packages).flatMap(([place, owner]) =>
  Object.entries(owner.optionalDependencies ?? {})
    .filter(([name, version]) => find(place, name)?.version !== version && isExact(version))
    .map(([name, version]) => ({ place: besideSibling(place, name), name, version, owner })),
);
for (const { place, name, version, owner } of missing) {
  lock.packages[`${place}node_modules/${name}`] = {
    version,
    ...platformOf(name),
    ...(owner.dev ? { dev: true } : {}),
    ...(owner.license === undefined ? {} : { license: owner.license }),
    optional: true,
  };
}
writeFileSync(LOCK_FILE, `${JSON.stringify(lock, null, 2)}\n`);
process.stdout.write(`${missing.length} builds for other platforms added to ${LOCK_FILE}\n`);

function find(place: string, name: string): LockedPackage | undefined {
  const here = lock.packages[`${place === '' ? '' : `${place}/`}node_modules/${name}`];
  if (here !== undefined || place === '') return here;
  return find(place.slice(0, Math.max(0, place.lastIndexOf('/node_modules/'))), name);
}

/** The folder, with a slash, whose node_modules holds the owner itself. */
function besideSibling(place: string, name: string): string {
  const parent = place.slice(0, place.lastIndexOf('node_modules/'));
  return lock.packages[`${parent}node_modules/${name}`] === undefined ? parent : `${place}/`;
}

function isExact(version: string): boolean {
  return /^\d/.test(version);
}

function platformOf(name: string): object {
  const [os, cpu, flavour] = (name.split('/').at(-1) ?? name).replace(/^binding-/, '').split('-');
  if (os === 'wasm32') return { cpu: ['wasm32'] };
  const libc = LIBC[flavour ?? ''];
  return { os: [os], cpu: [cpu], ...(libc === undefined ? {} : { libc: [libc] }) };
}
