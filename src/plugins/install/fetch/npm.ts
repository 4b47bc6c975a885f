import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { failed } from '../failure.ts';
import {
  needsPackages,
  readPackageFile,
  withoutHostPackages,
  writePackageFile,
} from '../package-file.ts';
import type { NpmSource } from '../source/source.ts';
import { type Fetched, PACKAGE } from './fetched.ts';
import { type Installed, installPackages } from './run-npm.ts';
import type { InstallTools } from './tools.ts';

/** Has npm install a package of the registry. */
export async function fetchNpmPackage(
  { name, wanted }: NpmSource,
  staging: string,
  tools: InstallTools,
): Promise<Fetched> {
  tools.onProgress(`npm installs ${name} …`);
  return fetchPackage(wanted === null ? name : `${name}@${wanted}`, staging, tools);
}

/** Has npm install a package that `npm pack` has packed. */
export async function fetchTarball(
  file: string,
  staging: string,
  tools: InstallTools,
): Promise<Fetched> {
  tools.onProgress(`npm installs ${path.basename(file)} …`);
  return fetchPackage(file, staging, tools);
}

async function fetchPackage(spec: string, staging: string, tools: InstallTools): Promise<Fetched> {
  const prefix = path.join(staging, PACKAGE);
  mkdirSync(prefix, { recursive: true });
  const installed = await installPackages(
    { prefix, content: { private: true }, specs: [spec] },
    tools,
  );
  const name = installedName(prefix);
  const { version, integrity } = markOf(installed, name);
  writePackageFile(prefix, { private: true, dependencies: { [name]: version ?? '*' } });
  const directory = path.join(PACKAGE, 'node_modules', ...name.split('/'));
  if (!existsSync(path.join(staging, directory))) throw nothingInstalled();
  return {
    path: directory,
    isFile: false,
    name,
    version,
    integrity,
    commit: null,
    hasPackages: true,
  };
}

/** What npm has added to the package.json that was empty before. */
function installedName(prefix: string): string {
  const dependencies = readPackageFile(prefix)?.['dependencies'];
  const [name] = Object.keys(dependencies ?? {});
  if (name === undefined || name.split('/').includes('..')) throw nothingInstalled();
  return name;
}

function nothingInstalled() {
  return failed('npm ended well and has installed nothing', 'Does CLINE_NPM_COMMAND name npm?');
}

function markOf(
  installed: Installed,
  name: string,
): { readonly version: string | null; readonly integrity: string | null } {
  const { version, integrity } = installed.get(`node_modules/${name}`) ?? {};
  return {
    version: typeof version === 'string' ? version : null,
    integrity: typeof integrity === 'string' ? integrity : null,
  };
}

/** Has npm install what a package that was copied or cloned depends on, if it depends on anything. */
export async function addDependencies(directory: string, tools: InstallTools): Promise<void> {
  const written = readPackageFile(directory);
  if (written === null) return;
  const content = withoutHostPackages(written);
  if (needsPackages(content)) {
    tools.onProgress('npm installs what it depends on …');
    await installPackages({ prefix: directory, content, specs: [] }, tools);
  }
  writePackageFile(directory, { ...content, ...developed(written) });
}

/** Left as it was, for whoever reads it, but for the host's own packages. */
function developed({ devDependencies }: Readonly<Record<string, unknown>>) {
  if (devDependencies === undefined) return {};
  const { dependencies } = withoutHostPackages({ dependencies: devDependencies });
  return { devDependencies: dependencies };
}
