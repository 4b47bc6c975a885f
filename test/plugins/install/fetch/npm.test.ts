import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { InstallTools } from '../../../../src/plugins/install/fetch/tools.ts';
import { installPlugin, updatePlugin } from '../../../../src/plugins/install/install.ts';
import type { Source } from '../../../../src/plugins/install/source.ts';
import { npmEnvironment, openRegistry, packed, type PackageFiles } from '../npm-registry.ts';
import {
  createDirectory,
  filesIn,
  hasNpm,
  getOwnPlugins,
  PLUGIN,
  toolsFor,
} from '../install-fixture.ts';
import { refusalOf } from '../../../base/refusal.ts';

/** A plugin of the registry; its script would leave a mark. */
function plugin(version: string, more: Readonly<Record<string, unknown>> = {}): PackageFiles {
  const content = {
    name: '@acme/weather',
    version,
    scripts: { preinstall: 'touch ../../../../ran', postinstall: 'touch ../../../../ran' },
    cline: { plugins: [{ paths: ['./index.ts'], capabilities: ['tools'] }] },
    ...more,
  };
  return { 'package.json': JSON.stringify(content), 'index.ts': PLUGIN };
}

const LEFT = { 'package.json': '{"name":"left","version":"1.2.0"}', 'index.js': '' };
const CORE = { 'package.json': '{"name":"@cline/core","version":"0.0.86"}' };

const WEATHER = { kind: 'npm', name: '@acme/weather', wanted: null } as const;

function install(home: string, source: Source, tools: InstallTools) {
  return installPlugin({ source, place: getOwnPlugins(home), isForced: false }, tools);
}

async function refusal(work: Promise<unknown>): Promise<string> {
  return (await refusalOf(work)).message;
}

describe.skipIf(!hasNpm)('installing a package of the registry', () => {
  it('runs nothing of it, pins it, and does not download what the host provides', async () => {
    const home = createDirectory();
    const registry = await openRegistry(home, [
      plugin('1.0.0', {
        dependencies: { left: '^1.0.0', '@cline/core': '*' },
        peerDependencies: { '@cline/sdk': '*' },
        devDependencies: { 'nobody-has-this': '1' },
      }),
      LEFT,
      CORE,
    ]);
    const tools = toolsFor(home, registry.env);
    const { directory, record, capabilities } = await install(home, WEATHER, tools);
    expect(filesIn(directory)).toEqual([
      'hookline-install.json',
      'package.json',
      'package/node_modules/@acme/weather/index.ts',
      'package/node_modules/@acme/weather/package.json',
      'package/node_modules/left/index.js',
      'package/node_modules/left/package.json',
      'package/package.json',
    ]);
    expect({ ...record, capabilities }).toMatchObject({
      source: 'npm:@acme/weather',
      name: '@acme/weather',
      version: '1.0.0',
      integrity: expect.stringMatching(/^sha512-/u),
      entries: [{ path: 'package/node_modules/@acme/weather/index.ts' }],
      capabilities: ['tools'],
    });
    expect(registry.asked.filter((each) => each.startsWith('/@cline/'))).toEqual([]);
    expect(readFileSync(path.join(directory, 'package/package.json'), 'utf8')).not.toContain(home);
    expect(filesIn(home).filter((file) => path.basename(file) === 'ran')).toEqual([]);
    expect(tools.reports).toEqual(['npm installs @acme/weather …']);
  });

  it('updates to the newest that was asked for, and no further', async () => {
    const home = createDirectory();
    const registry = await openRegistry(home, [plugin('1.0.0')]);
    const tools = toolsFor(home, registry.env);
    const { directory } = await install(home, { ...WEATHER, wanted: '^1' }, tools);
    registry.publish(plugin('1.4.0'));
    registry.publish(plugin('2.0.0'));
    const request = { directory, place: getOwnPlugins(home), home, isDry: false };
    const { before, after, isNew } = await updatePlugin(request, tools);
    expect({ isNew, before: before.version, after: after.version }).toEqual({
      isNew: true,
      before: '1.0.0',
      after: '1.4.0',
    });
    expect(await updatePlugin(request, tools)).toMatchObject({ isNew: false });
  });

  it('prints npm’s own error, and leaves nothing behind', async () => {
    const home = createDirectory();
    const { env, url } = await openRegistry(home);
    expect(await refusal(install(home, WEATHER, toolsFor(home, env)))).toContain(
      `npm could not install it: Not Found - GET ${url}@acme%2fweather`,
    );
    const offline = npmEnvironment('http://127.0.0.1:9/', home);
    const impatient = { ...offline, npm_config_fetch_retries: '0' };
    expect(await refusal(install(home, WEATHER, toolsFor(home, impatient)))).toMatch(
      /^npm could not install it: .*connect ECONNREFUSED 127\.0\.0\.1:9/u,
    );
    expect(existsSync(path.join(getOwnPlugins(home).directory, '_installed'))).toBe(false);
  });

  it('uses index.js as the entry of a package that names none; the loader decides whether it is one', async () => {
    const home = createDirectory();
    const { env } = await openRegistry(home, [LEFT]);
    const source = { kind: 'npm', name: 'left', wanted: null } as const;
    const { entryPaths } = await install(home, source, toolsFor(home, env));
    expect(entryPaths.map((file) => path.basename(file))).toEqual(['index.js']);
  });

  it('refuses a package without a module in it', async () => {
    const home = createDirectory();
    const empty = { 'package.json': '{"name":"empty","version":"1.0.0"}', 'a.txt': '' };
    const other = await openRegistry(home, [empty]);
    const none = { kind: 'npm', name: 'empty', wanted: null } as const;
    expect(await refusal(install(home, none, toolsFor(home, other.env)))).toMatch(
      /^it cannot be installed: no plugin found in /u,
    );
  });
});

describe.skipIf(!hasNpm)('installing a packed package', () => {
  it('has npm unpack it', async () => {
    const home = createDirectory();
    const file = path.join(home, 'acme-weather-1.0.0.tgz');
    writeFileSync(file, packed(plugin('1.0.0')));
    const tools = toolsFor(home, npmEnvironment('http://127.0.0.1:9/', home));
    const { record, directory } = await install(home, { kind: 'local', path: file }, tools);
    expect(record).toMatchObject({
      kind: 'local',
      source: file,
      name: '@acme/weather',
      version: '1.0.0',
      integrity: expect.stringMatching(/^sha512-/u),
    });
    expect(path.basename(directory)).toMatch(/^acme-weather-1\.0\.0-[\da-f]{12}$/u);
  });
});

describe('the npm that is used', () => {
  it.skipIf(!hasNpm)('installs what a directory depends on, and no more', async () => {
    const home = createDirectory();
    const registry = await openRegistry(home, [LEFT, CORE]);
    const files = plugin('1.0.0', {
      dependencies: { left: '1', '@cline/core': '*' },
      devDependencies: { 'nobody-has-this': '1' },
    });
    const from = createDirectory(files);
    const { directory } = await install(
      home,
      { kind: 'local', path: from },
      toolsFor(home, registry.env),
    );
    expect(filesIn(path.join(directory, 'package'))).toEqual([
      'index.ts',
      'node_modules/left/index.js',
      'node_modules/left/package.json',
      'package.json',
    ]);
    expect(JSON.parse(readFileSync(path.join(directory, 'package/package.json'), 'utf8'))).toEqual({
      ...JSON.parse(files['package.json'] ?? ''),
      dependencies: { left: '1' },
    });
  });

  it.each([
    [{}, 'npm is needed to install this plugin, and it is not on the PATH'],
    [
      { CLINE_NPM_COMMAND: 'no-such-npm --quiet' },
      'CLINE_NPM_COMMAND should name a program, found "no-such-npm --quiet"',
    ],
  ])('is named when it is missing: %j', async (env, message) => {
    const home = createDirectory();
    const tools = toolsFor(home, { ...env, PATH: home });
    expect(await refusal(install(home, WEATHER, tools))).toBe(message);
  });

  it('is the one that CLINE_NPM_COMMAND names, with its arguments', async () => {
    const home = createDirectory({
      'fake.mjs': 'console.error("npm error one\\nnpm error two words"); process.exit(7);',
    });
    const command = `${process.execPath} ${path.join(home, 'fake.mjs')}`;
    const tools = toolsFor(home, { CLINE_NPM_COMMAND: command });
    expect(await refusal(install(home, WEATHER, tools))).toBe(
      'npm could not install it: two words',
    );
  });
});
