import { chmodSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { npmEnvironment, openRegistry } from '../../../plugins/install/npm-registry.ts';
import {
  createRepository,
  filesIn,
  hasGit,
  hasNpm,
} from '../../../plugins/install/install-fixture.ts';
import { jsonOf, runHookline, startHookline, resultOf } from '../../hookline.ts';
import { at, createTempWorkspace, type TempWorkspace, trust, write } from '../../temp-workspace.ts';
import { hasTerminal, runInTerminal } from '../../terminal.ts';

const SEED = path.resolve(import.meta.dirname, '../../../fixtures/cline-plugin-docs');

function seed(name: string): string {
  return readFileSync(path.join(SEED, `${name}.txt`), 'utf8');
}

/** The documented package, beside the repository. */
function writePackage({ directory }: TempWorkspace, name = 'my-cline-plugin'): string {
  write(directory, `${name}/package.json`, withoutDependencies(seed('package-json')));
  write(directory, `${name}/index.ts`, seed('smallest-plugin'));
  return path.join(directory, name);
}

/** What is not the host's own would have to be fetched. */
function withoutDependencies(text: string): string {
  return JSON.stringify({ ...JSON.parse(text), dependencies: {} });
}

function plugin(
  workspace: TempWorkspace,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  return runHookline(['plugin', ...words], at(workspace, { env }));
}

function ownPlugins({ home }: TempWorkspace): string {
  return path.join(home, '.cline', 'plugins');
}

describe('hookline plugin', () => {
  it('without arguments prints what it can do', async () => {
    const { code, stderr } = await plugin(createTempWorkspace(), []);
    expect(code).toBe(2);
    expect(stderr).toContain('install|i [options] <source>');
  });
});

describe('hookline plugin install', () => {
  it('F1: installs a directory and says exactly what came; a second time it asks for --force', async () => {
    const workspace = createTempWorkspace();
    const from = writePackage(workspace);
    const first = await plugin(workspace, ['install', '../my-cline-plugin', '--json']);
    const installed = jsonOf(first);
    expect({ code: first.code, stderr: first.stderr, installed }).toEqual({
      code: 0,
      stderr: '',
      installed: {
        source: '../my-cline-plugin',
        installPath: expect.stringMatching(/_installed\/local\/my-cline-plugin-[\da-f]{12}$/u),
        entryPaths: [`${installed.installPath}/package/index.ts`],
        mcpSyncFailures: [],
        kind: 'local',
        name: 'my-cline-plugin',
        version: '0.1.0',
        commit: null,
        integrity: null,
        sha256: expect.stringMatching(/^[\da-f]{64}$/u),
        capabilities: ['tools', 'hooks'],
        files: 3,
        bytes: expect.any(Number),
        warnings: [],
        trust: null,
      },
    });
    const second = await plugin(workspace, ['i', from]);
    expect(second).toEqual({
      code: 1,
      stdout: '',
      stderr: `hookline: my-cline-plugin 0.1.0 is already installed at ${installed.installPath}\n  Use --force to install it again, or run \`hookline plugin update\`.\n`,
    });
    expect((await plugin(workspace, ['install', from, '--force'])).code).toBe(0);
  });

  it('prints what was put where', async () => {
    const workspace = createTempWorkspace();
    writePackage(workspace);
    const { stdout, stderr } = await plugin(workspace, ['install', '../my-cline-plugin']);
    expect(stdout.replaceAll(/[\da-f]{64}|[\da-f]{12}/gu, 'HASH').split('\n')).toEqual([
      'Installed my-cline-plugin 0.1.0 from ../my-cline-plugin.',
      '  where     ~/.cline/plugins/_installed/local/my-cline-plugin-HASH',
      '  entry     package/index.ts',
      '  declares  tools, hooks',
      expect.stringMatching(/^ {2}files {5}3, \d\.\d kB$/u),
      '  pinned    sha256 HASH',
      '',
    ]);
    expect(stderr).toBe('');
  });

  it.skipIf(!hasNpm)('F2: installs @scope/name and npm:name from the registry', async () => {
    const workspace = createTempWorkspace();
    const content = { name: '@scope/my-cline-plugin', version: '1.2.3' };
    const registry = await openRegistry(workspace.directory, [
      { 'package.json': JSON.stringify(content), 'index.ts': seed('smallest-plugin') },
    ]);
    const first = await plugin(
      workspace,
      ['install', '@scope/my-cline-plugin', '--json'],
      registry.env,
    );
    expect(jsonOf(first)).toMatchObject({
      kind: 'npm',
      name: '@scope/my-cline-plugin',
      version: '1.2.3',
      integrity: expect.stringMatching(/^sha512-/u),
      capabilities: null,
    });
    const second = await plugin(workspace, ['install', 'npm:@scope/my-cline-plugin'], registry.env);
    expect(second.code).toBe(1);
    expect(second.stderr).toContain('is already installed');
    const listed = await plugin(workspace, ['list', '--json']);
    expect(jsonOf(listed).plugins).toMatchObject([
      {
        name: 'hello-plugin',
        version: '1.2.3',
        source: 'npm:@scope/my-cline-plugin',
        contributes: { tools: ['say_hello'] },
      },
    ]);
  });

  it.skipIf(!hasNpm)(
    'installs the documented package as it is written, with its dependencies',
    async () => {
      const workspace = createTempWorkspace();
      const zod = { 'package.json': '{"name":"zod","version":"4.1.5"}', 'index.js': '' };
      const registry = await openRegistry(workspace.directory, [zod]);
      write(workspace.directory, 'my-cline-plugin/package.json', seed('package-json'));
      write(workspace.directory, 'my-cline-plugin/index.ts', seed('smallest-plugin'));
      const args = ['install', '../my-cline-plugin', '--json'];
      const { installPath } = jsonOf(await plugin(workspace, args, registry.env));
      expect(filesIn(path.join(installPath, 'package'))).toEqual([
        'index.ts',
        'node_modules/zod/index.js',
        'node_modules/zod/package.json',
        'package.json',
      ]);
      expect(registry.asked).toEqual(['/zod', '/zod/-/zod-4.1.5.tgz']);
    },
  );

  it.skipIf(!hasNpm)('prints npm’s reason, offline, and leaves nothing behind', async () => {
    const workspace = createTempWorkspace();
    const env = {
      ...npmEnvironment('http://127.0.0.1:9/', workspace.directory),
      npm_config_fetch_retries: '0',
    };
    const { code, stderr } = await plugin(workspace, ['install', '@scope/name'], env);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^hookline: npm could not install it: .*ECONNREFUSED/u);
    expect(existsSync(path.join(ownPlugins(workspace), '_installed'))).toBe(false);
  });

  it.skipIf(!hasGit)('F3: reads a bare name as one of Cline’s collection', async () => {
    const workspace = createTempWorkspace();
    const { env } = createRepository(workspace.directory, {
      'plugins/weather/index.ts': seed('smallest-plugin'),
    });
    write(workspace.repo, 'weather/index.ts', 'nobody asked for this one');
    const { code, stdout } = await plugin(workspace, ['install', 'weather', '--json'], env);
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({
      code: 0,
      kind: 'official',
      name: 'weather',
      commit: expect.stringMatching(/^[\da-f]{40}$/u),
    });
  });

  it.skipIf(!hasGit)('installs --git github.com/owner/repo#ref', async () => {
    const workspace = createTempWorkspace();
    const { env } = createRepository(workspace.directory, {
      'package.json': withoutDependencies(seed('package-json')),
      'index.ts': seed('smallest-plugin'),
    });
    const args = ['install', '--git', 'github.com/acme/plugin#main', '--json'];
    const { code, stdout } = await plugin(workspace, args, env);
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({
      code: 0,
      kind: 'git',
      name: 'my-cline-plugin',
      installPath: expect.stringMatching(/_installed\/git\/github\.com\/plugin-[\da-f]{12}$/u),
    });
  });

  it('installs one file from an address on this machine', async () => {
    const workspace = createTempWorkspace();
    const server = createServer((_, response) => void response.end(seed('smallest-plugin')));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hello.ts`;
    const { code, stdout } = await plugin(workspace, ['install', url]);
    expect(code).toBe(0);
    expect(stdout).toContain(`Installed hello from ${url}.`);
    expect(jsonOf(await plugin(workspace, ['list', '--json'])).plugins).toMatchObject([
      { name: 'hello-plugin', source: url, state: 'ready' },
    ]);
  });

  it.each([
    [['a', '--npm', '--git'], 2, '--npm and --git cannot be combined'],
    [['./nothing'], 1, 'cannot be installed: not found'],
    [['npm:./x.tgz'], 2, 'an npm package is named as it is in the registry, found "./x.tgz"'],
    [['http://example.org/x.ts'], 2, 'a plugin is downloaded over https only'],
    [['--git', 'github.com/a/b#-x'], 2, 'expected a branch, a tag or a commit after # or @'],
    [['github.com/owner/repo'], 2, '"github.com/owner/repo" not found'],
  ])('F4: refuses %j', async (words, code, message) => {
    const workspace = createTempWorkspace();
    const result = await plugin(workspace, ['install', ...words]);
    expect(result.code).toBe(code);
    expect(result.stderr.split('\n')[0]).toContain(message);
    expect(existsSync(ownPlugins(workspace))).toBe(false);
  });

  it('F6: writes no MCP server anywhere, and executes nothing', async () => {
    const workspace = createTempWorkspace();
    const mark = path.join(workspace.directory, 'ran');
    write(
      workspace.directory,
      'mcp.ts',
      `require('node:fs').writeFileSync(${JSON.stringify(mark)}, '');\n${seed('smallest-plugin')}`,
    );
    const { code } = await plugin(workspace, ['install', '../mcp.ts', '--cwd', workspace.repo]);
    expect(code).toBe(0);
    expect(existsSync(mark)).toBe(false);
    expect(filesIn(workspace.home).filter((file) => file.includes('mcp_settings'))).toEqual([]);
  });

  it('installs for a workspace with --cwd, where it is loaded once it is trusted', async () => {
    const workspace = createTempWorkspace();
    const from = writePackage(workspace);
    const args = ['install', from, '--cwd', workspace.repo];
    const { stdout, stderr } = await runHookline(
      ['plugin', ...args],
      at(workspace, { cwd: workspace.directory }),
    );
    expect(stdout).toContain('Installed my-cline-plugin 0.1.0');
    expect(stderr).toBe(
      `It needs review before it is loaded: hookline --cwd ${workspace.repo} trust plugin:workspace:my-cline-plugin\n`,
    );
    const before = jsonOf(await plugin(workspace, ['list', '--json'])).plugins;
    expect(before).toMatchObject([{ state: 'untrusted', contributes: null, place: 'workspace' }]);
    expect((await runHookline(['trust', '--yes'], at(workspace))).code).toBe(0);
    const after = jsonOf(await plugin(workspace, ['list', '--json'])).plugins;
    expect(after).toMatchObject([{ state: 'ready', contributes: { tools: ['say_hello'] } }]);
  });

  it('leaves a plugin of the workspace trusted that lies beside it', async () => {
    const workspace = createTempWorkspace({ '.cline/plugins/ours.ts': seed('smallest-plugin') });
    writePackage(workspace);
    trust(workspace);
    const { code, stderr } = await plugin(workspace, [
      'install',
      '--cwd',
      '.',
      '../my-cline-plugin',
    ]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const { hooks } = jsonOf(await runHookline(['hooks', 'list', '--json'], at(workspace)));
    expect(hooks).toMatchObject([
      { id: 'plugin:workspace:my-cline-plugin', state: 'untrusted' },
      { id: 'plugin:workspace:ours', state: 'ready' },
    ]);
  });

  it('never takes --yes for trust', async () => {
    const workspace = createTempWorkspace();
    writePackage(workspace);
    const args = ['install', '../my-cline-plugin', '--cwd', '.', '--yes'];
    const { code, stderr } = await plugin(workspace, args);
    expect({ code, stderr: stderr.split('\n')[0] }).toEqual({
      code: 2,
      stderr: 'hookline: unknown option "--yes"',
    });
  });

  it('is not reported as new to the user who installed it', async () => {
    const workspace = createTempWorkspace();
    writePackage(workspace);
    write(ownPlugins(workspace), 'other.ts', seed('smallest-plugin'));
    await runHookline(['hooks', 'list'], at(workspace));
    write(ownPlugins(workspace), 'new.ts', seed('smallest-plugin'));
    const { stderr } = await plugin(workspace, ['install', '../my-cline-plugin']);
    expect(stderr).toContain(`${ownPlugins(workspace)}/new.ts`);
    expect((await plugin(workspace, ['list', '--no-load'])).stderr).toBe('');
  });

  it.skipIf(!hasTerminal)('asks on a terminal whether it is trusted', async () => {
    const workspace = createTempWorkspace();
    writePackage(workspace);
    const args = ['plugin', 'install', '../my-cline-plugin', '--cwd', '.'];
    const { code, stdout } = await runInTerminal(args, at(workspace), {
      dialogue: [['Trust 1 plugin', 'y']],
    });
    expect(code).toBe(0);
    expect(stdout).toContain('Trusted 1 plugin.');
    expect(stdout).toContain('copying ');
    expect(jsonOf(await plugin(workspace, ['list', '--json'])).plugins).toMatchObject([
      { state: 'ready', trusted: true },
    ]);
  });

  it('says when the plugin would not be found there', async () => {
    const workspace = createTempWorkspace({ 'sub/readme.md': '' });
    writePackage(workspace);
    const args = ['install', '../../my-cline-plugin', '--cwd', 'sub'];
    const { code, stderr } = await plugin(workspace, args);
    expect(code).toBe(0);
    expect(stderr).toContain(`pass --root ${workspace.repo}/sub to find it`);
  });

  it('refuses to run inside an agent’s session', async () => {
    const workspace = createTempWorkspace();
    writePackage(workspace);
    for (const args of [
      ['install', '../my-cline-plugin'],
      ['uninstall', 'x'],
      ['update'],
      ['enable', 'x'],
      ['disable', 'x'],
    ]) {
      const { code, stderr } = await plugin(workspace, args, { HOOKLINE_SESSION: 's' });
      expect({ code, stderr: stderr.split('\n')[0] }).toEqual({
        code: 1,
        stderr: `hookline: \`hookline plugin ${args[0]}\` cannot run inside an agent session or a hook: HOOKLINE_SESSION is set`,
      });
    }
  });

  it('respects CLINE_DIR, and keeps a link that leads out of a package from being installed', async () => {
    const workspace = createTempWorkspace();
    const from = writePackage(workspace);
    const own = path.join(workspace.directory, 'elsewhere');
    expect((await plugin(workspace, ['install', from], { CLINE_DIR: own })).code).toBe(0);
    expect(existsSync(path.join(own, 'plugins/_installed/local'))).toBe(true);
    symlinkSync('/etc/passwd', path.join(from, 'passwd'));
    const { code, stderr } = await plugin(workspace, ['install', from]);
    expect({ code, stderr: stderr.split('\n')[0] }).toEqual({
      code: 1,
      stderr: 'hookline: "passwd" is a link that leads out of the plugin, to "/etc/passwd"',
    });
  });

  it('ends npm and leaves nothing behind when it is interrupted', async () => {
    const workspace = createTempWorkspace();
    const startedFile = path.join(workspace.directory, 'started');
    const script = `#!/bin/sh\necho > ${startedFile}\nexec sleep 60\n`;
    const npm = write(workspace.directory, 'slow-npm', script);
    chmodSync(npm, 0o755);
    const child = startHookline(
      ['plugin', 'install', 'npm:anything'],
      at(workspace, { env: { CLINE_NPM_COMMAND: npm } }),
    );
    const installEnd = resultOf(child);
    await expect.poll(() => existsSync(startedFile)).toBe(true);
    child.kill('SIGINT');
    expect((await installEnd).code).toBe(130);
    expect(existsSync(path.join(ownPlugins(workspace), '_installed'))).toBe(false);
  });
});

describe('hookline plugin uninstall', () => {
  it.each(['my-cline-plugin', 'MY-CLINE-PLUGIN', 'index', 'index.ts'])(
    'F7: removes an install by %s',
    async (name) => {
      const workspace = createTempWorkspace();
      writePackage(workspace);
      const { installPath, entryPaths } = jsonOf(
        await plugin(workspace, ['install', '../my-cline-plugin', '--json']),
      );
      const removed = await plugin(workspace, ['uninstall', name, '--json']);
      expect(jsonOf(removed)).toEqual({
        name: 'my-cline-plugin',
        installPath,
        removedPaths: [installPath],
        entryPaths,
      });
      expect(filesIn(ownPlugins(workspace))).toEqual([]);
      expect(existsSync(path.join(ownPlugins(workspace), '_installed'))).toBe(false);
    },
  );

  it('accepts its directory, with or without the mark, and its path', async () => {
    const workspace = createTempWorkspace();
    for (const name of [(at: string) => path.basename(at), () => 'copy', (at: string) => at]) {
      const from = writePackage(workspace, 'copy');
      const { installPath } = jsonOf(await plugin(workspace, ['install', from, '--json']));
      expect((await plugin(workspace, ['rm', name(installPath)])).code).toBe(0);
      expect(existsSync(installPath)).toBe(false);
    }
  });

  it('F7: says that there is none of this name, and which there are', async () => {
    const workspace = createTempWorkspace();
    writePackage(workspace);
    await plugin(workspace, ['install', '../my-cline-plugin']);
    const results = [
      await plugin(workspace, ['uninstall', 'something']),
      await plugin(workspace, ['uninstall', 'my-cline-plugni']),
    ];
    expect(results).toEqual([
      {
        code: 2,
        stdout: '',
        stderr: 'hookline: plugin "something" not found\n  Plugins: my-cline-plugin.\n',
      },
      {
        code: 2,
        stdout: '',
        stderr: 'hookline: plugin "my-cline-plugni" not found\n  Did you mean my-cline-plugin?\n',
      },
    ]);
  });

  it('asks which one when several have a name', async () => {
    const workspace = createTempWorkspace();
    writePackage(workspace);
    const own = jsonOf(await plugin(workspace, ['install', '../my-cline-plugin', '--json']));
    const shared = jsonOf(
      await plugin(workspace, ['install', '../my-cline-plugin', '--cwd', '.', '--json']),
    );
    const { code, stderr } = await plugin(workspace, ['uninstall', 'my-cline-plugin']);
    expect({ code, stderr: stderr.split('\n')[0] }).toEqual({
      code: 2,
      stderr: `hookline: several plugins are called "my-cline-plugin": ${own.installPath}, ${shared.installPath}`,
    });
    expect(shared.trust).toBe(
      `hookline --cwd ${workspace.repo} trust plugin:workspace:my-cline-plugin`,
    );
  });

  it('deletes a plugin file that was not installed only with --yes', async () => {
    const workspace = createTempWorkspace();
    const file = write(ownPlugins(workspace), 'hello.ts', seed('smallest-plugin'));
    const askResult = await plugin(workspace, ['uninstall', 'hello']);
    expect({ code: askResult.code, isThere: existsSync(file) }).toEqual({ code: 1, isThere: true });
    expect(askResult.stderr).toContain(`Delete ${file}? There may be no other copy of it.`);
    expect((await plugin(workspace, ['uninstall', 'hello.ts', '--yes'])).code).toBe(0);
    expect(existsSync(file)).toBe(false);
  });

  it('forgets trust and switch, so that what is put there later is reviewed anew', async () => {
    const workspace = createTempWorkspace();
    writePackage(workspace);
    await plugin(workspace, ['install', '../my-cline-plugin', '--cwd', '.']);
    await runHookline(['trust', '--yes'], at(workspace));
    await plugin(workspace, ['disable', 'my-cline-plugin']);
    await plugin(workspace, ['uninstall', 'my-cline-plugin']);
    const config = JSON.parse(
      readFileSync(path.join(workspace.home, '.hookline/config.json'), 'utf8'),
    );
    expect(config.hooks.disabled).toEqual([]);
    await plugin(workspace, ['install', '../my-cline-plugin', '--cwd', '.']);
    expect(jsonOf(await plugin(workspace, ['list', '--json'])).plugins).toMatchObject([
      { state: 'untrusted', enabled: true },
    ]);
  });
});

describe('hookline plugin update', () => {
  it('installs what is new, says so, and leaves the rest alone', async () => {
    const workspace = createTempWorkspace();
    const from = writePackage(workspace);
    await plugin(workspace, ['install', from]);
    const content = JSON.parse(readFileSync(path.join(from, 'package.json'), 'utf8'));
    expect((await plugin(workspace, ['update'])).stdout).toBe(
      'my-cline-plugin: 0.1.0 is the latest version.\n',
    );
    writeFileSync(
      path.join(from, 'package.json'),
      JSON.stringify({ ...content, version: '0.2.0' }),
    );
    const results = [
      await plugin(workspace, ['update', '--dry-run']),
      await plugin(workspace, ['update', 'my-cline-plugin']),
      await plugin(workspace, ['update']),
    ];
    expect(results.map(({ code, stdout }) => ({ code, stdout }))).toEqual([
      { code: 0, stdout: 'my-cline-plugin: 0.1.0 → 0.2.0 (nothing was changed)\n' },
      { code: 0, stdout: 'my-cline-plugin: 0.1.0 → 0.2.0\n' },
      { code: 0, stdout: 'my-cline-plugin: 0.2.0 is the latest version.\n' },
    ]);
  });

  it('goes on with the others when one fails, and a changed one of a workspace is reviewed again', async () => {
    const workspace = createTempWorkspace();
    const from = writePackage(workspace);
    const lostPlugin = write(workspace.directory, 'lost.ts', seed('smallest-plugin'));
    await plugin(workspace, ['install', lostPlugin]);
    await plugin(workspace, ['install', from, '--cwd', '.']);
    await runHookline(['trust', '--yes'], at(workspace));
    writeFileSync(path.join(from, 'index.ts'), `${seed('smallest-plugin')}\n// new\n`);
    rmSync(lostPlugin);
    const { code, stdout, stderr } = await plugin(workspace, ['update']);
    expect(code).toBe(1);
    expect(stdout.replaceAll(/[\da-f]{12}/gu, 'HASH').split('\n')).toEqual([
      `lost: not updated: ${lostPlugin} cannot be installed: not found`,
      expect.stringMatching(/^ {2}A package of the registry is named npm:NAME/u),
      'my-cline-plugin: 0.1.0, content changed: sha256 HASH → HASH',
      '',
    ]);
    expect(stderr).toContain(
      'It needs review before it is loaded: hookline trust plugin:workspace:my-cline-plugin',
    );
    expect(jsonOf(await plugin(workspace, ['list', '--json'])).plugins).toMatchObject([
      { state: 'ready' },
      { state: 'modified' },
    ]);
  });

  it('fetches nothing that only an untrusted workspace asks for', async () => {
    const workspace = createTempWorkspace();
    const from = writePackage(workspace);
    await plugin(workspace, ['install', from, '--cwd', '.']);
    writeFileSync(path.join(from, 'index.ts'), `${seed('smallest-plugin')}\n// new\n`);
    const { code, stdout } = await plugin(workspace, ['update']);
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout:
        'my-cline-plugin: not updated: my-cline-plugin is not trusted here, so the source in its record is not either\n  Review it with `hookline trust`, or install it again with --force.\n',
    });
  });

  it('says that there is nothing to update', async () => {
    const { code, stdout } = await plugin(createTempWorkspace(), ['update']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'No installed plugins to update. Install one with `hookline plugin install`.\n',
    });
  });
});
