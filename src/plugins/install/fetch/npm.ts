import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { createInstallError, type NpmSource } from '../source.ts';
import {
  hasDependencies,
  readPackageFile,
  omitHostPackages,
  writePackageFile,
  type PackageFile,
} from '../package-file.ts';
import { type Fetched, PACKAGE, type InstallTools, runTool } from './tools.ts';
import { readTextIfPresent } from '../../../base/files.ts';
import { isRecord, parseJson } from '../../../base/json.ts';
import type { ProgramResult } from '../../../process/run.ts';

/** Has npm install a package of the registry. */
export async function fetchNpmPackage(
  { name, wanted }: NpmSource,
  staging: string,
  tools: InstallTools,
): Promise<Fetched> {
  tools.onProgress(`npm installs ${name} …`);
  return fetchPackage(wanted === null ? name : `${name}@${wanted}`, staging, tools);
}

/** Has npm install a tarball of `npm pack`. */
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
  const installed = await installPackages(prefix, { private: true }, [spec], tools);
  const name = readInstalledName(prefix);
  const { version, integrity } = readVersion(installed, name);
  writePackageFile(prefix, { private: true, dependencies: { [name]: version ?? '*' } });
  const directory = path.join(PACKAGE, 'node_modules', ...name.split('/'));
  if (!existsSync(path.join(staging, directory))) throw createNothingInstalledError();
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

/** The package that npm has added to the empty package.json. */
function readInstalledName(prefix: string): string {
  const dependencies = readPackageFile(prefix)?.['dependencies'];
  const [name] = Object.keys(dependencies ?? {});
  if (name === undefined || name.split('/').includes('..')) throw createNothingInstalledError();
  return name;
}

function createNothingInstalledError() {
  return createInstallError(
    'npm ended well and has installed nothing',
    'Does CLINE_NPM_COMMAND name npm?',
  );
}

function readVersion(
  installed: Installed,
  name: string,
): { readonly version: string | null; readonly integrity: string | null } {
  const { version, integrity } = installed.get(`node_modules/${name}`) ?? {};
  return {
    version: typeof version === 'string' ? version : null,
    integrity: typeof integrity === 'string' ? integrity : null,
  };
}

/** Runs `npm install` for a package that was copied or cloned, if it has dependencies. */
export async function addDependencies(directory: string, tools: InstallTools): Promise<void> {
  const written = readPackageFile(directory);
  if (written === null) return;
  const content = omitHostPackages(written);
  if (hasDependencies(content)) {
    tools.onProgress('npm installs what it depends on …');
    await installPackages(directory, content, [], tools);
  }
  writePackageFile(directory, { ...content, ...filterDevDependencies(written) });
}

/** The devDependencies are preserved for readers, except for the host's own packages. */
function filterDevDependencies({ devDependencies }: Readonly<Record<string, unknown>>) {
  if (devDependencies === undefined) return {};
  const { dependencies } = omitHostPackages({ dependencies: devDependencies });
  return { devDependencies: dependencies };
}

/** No script of a package is run, and no devDependencies are installed. */
const FLAGS = [
  '--ignore-scripts',
  '--omit=dev',
  '--omit=peer',
  '--legacy-peer-deps',
  '--no-audit',
  '--no-fund',
  '--no-bin-links',
  '--no-package-lock',
  '--no-update-notifier',
  '--location=project',
  '--prefer-online',
  '--save-exact',
  '--json',
];

/** The packages that npm has installed, by path. */
type Installed = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/**
 * Has npm install packages below `prefix`: the dependencies in the content of its package.json, and `specs`.
 * Packages of `@cline/*` are not looked up, because the host provides them.
 */
async function installPackages(
  prefix: string,
  content: PackageFile,
  specs: readonly string[],
  tools: InstallTools,
): Promise<Installed> {
  const npm = findNpm(tools);
  const standIn = path.join(prefix, STAND_IN);
  mkdirSync(standIn, { recursive: true });
  writePackageFile(standIn, { name: 'host', version: '9999.0.0' });
  writePackageFile(prefix, { ...content, overrides: readOverrides(content, standIn) });
  const [file, ...words] = npm;
  const result = await runTool(
    {
      file,
      args: [...words, 'install', ...FLAGS, '--prefix', prefix, '--', ...specs],
      cwd: prefix,
      env: buildNpmEnvironment(tools),
    },
    tools,
  );
  if (result.exitCode !== 0) throw createInstallError(createNpmError(result), HINT);
  const installed = readInstalled(prefix);
  removeStandIns(prefix, standIn);
  return installed;
}

const STAND_IN = '.hookline-host';
const HINT = 'Nothing was installed. Is the registry reachable, and is the name right?';

/** The packages that the host provides to plugins. */
const HOST_PACKAGES = ['core', 'sdk', 'agents', 'shared', 'llms'].map((name) => `@cline/${name}`);

function readOverrides({ overrides }: PackageFile, standIn: string): Record<string, unknown> {
  const all: Record<string, unknown> = isRecord(overrides) ? { ...overrides } : {};
  for (const name of HOST_PACKAGES) all[name] = `file:${standIn}`;
  return all;
}

/** `npm` of the PATH, or the command in CLINE_NPM_COMMAND, which may include arguments. */
function findNpm({ findProgram, env }: InstallTools): readonly [string, ...string[]] {
  const command = env['CLINE_NPM_COMMAND']?.trim() ?? '';
  const whole = command === '' ? null : findProgram(command);
  if (whole !== null) return [whole];
  const [word = 'npm', ...words] = command === '' ? [] : command.split(/\s+/u);
  const program = findProgram(word);
  if (program !== null) return [program, ...words];
  if (command !== '') {
    throw createInstallError(
      `CLINE_NPM_COMMAND should name a program, found ${JSON.stringify(command)}`,
      'Unset it, or name npm’s own program.',
    );
  }
  throw createInstallError(
    'npm is needed to install this plugin, and it is not on the PATH',
    'Install Node.js with npm, or name it in CLINE_NPM_COMMAND.',
  );
}

/**
 * A flag is not passed on to the npm that npm itself starts for a dependency in a repository. npm retries
 * for over a minute without a network, so its retry delays are shortened unless they are configured.
 */
function buildNpmEnvironment({ env }: InstallTools): Record<string, string> {
  return {
    npm_config_fetch_retry_mintimeout: '1000',
    npm_config_fetch_retry_maxtimeout: '4000',
    ...env,
    npm_config_ignore_scripts: 'true',
    GIT_TERMINAL_PROMPT: '0',
  };
}

function createNpmError({ stdout, stderr, exitCode }: ProgramResult): string {
  const parsed = parseJson(stdout.text);
  const error = parsed.ok && isRecord(parsed.value) ? parsed.value['error'] : undefined;
  const summary = isRecord(error) ? error['summary'] : undefined;
  const reason =
    typeof summary === 'string' && summary.trim() !== '' ? summary : findLastError(stderr);
  return `npm could not install it: ${readFirstLine(reason ?? `it ended with exit code ${exitCode}`)}`;
}

function findLastError({ text }: { readonly text: string }): string | null {
  const lines = text
    .split('\n')
    .map((line) => line.replace(/^npm (?:error|ERR!)\s*/u, '').trim())
    .filter((line) => line !== '' && !line.startsWith('A complete log of this run'));
  return lines.at(-1) ?? null;
}

function readFirstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? '';
}

/** Reads npm's lock file, which is removed afterwards, because it contains paths of the staging directory. */
function readInstalled(prefix: string): Installed {
  const file = path.join(prefix, 'node_modules', '.package-lock.json');
  const parsed = parseJson(readTextIfPresent(file) ?? '{}');
  const packages = parsed.ok && isRecord(parsed.value) ? parsed.value['packages'] : {};
  rmSync(file, { force: true });
  const entries = isRecord(packages) ? Object.entries(packages) : [];
  return new Map(entries.flatMap(([at, each]) => (isRecord(each) ? [[at, each]] : [])));
}

function removeStandIns(prefix: string, standIn: string): void {
  const modules = path.join(prefix, 'node_modules');
  for (const name of HOST_PACKAGES) {
    const place = path.join(modules, ...name.split('/'));
    rmSync(place, { recursive: true, force: true });
  }
  rmSync(standIn, { recursive: true, force: true });
  removeEmpty(path.join(modules, '@cline'));
  removeEmpty(modules);
}

function removeEmpty(directory: string): void {
  const isEmpty = listNames(directory)?.length === 0;
  if (isEmpty) rmSync(directory, { recursive: true });
}

function listNames(directory: string): readonly string[] | null {
  try {
    return readdirSync(directory);
  } catch {
    return null;
  }
}
