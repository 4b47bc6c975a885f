import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../base/directory.ts';
import { startService } from '../../../e2e/service.ts';
import { jsonOf, runHookline } from '../../hookline.ts';
import { at, createTempWorkspace, type TempWorkspace, write } from '../../temp-workspace.ts';
import { hasTerminal, runInTerminal } from '../../terminal.ts';

const SEED = path.resolve(import.meta.dirname, '../../../fixtures/cline-plugin-docs');

function seed(name: string): string {
  return readFileSync(path.join(SEED, `${name}.txt`), 'utf8');
}

const HELLO = seed('smallest-plugin');
const PLUGINS = '.cline/plugins';

function plugin(
  workspace: TempWorkspace,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  return runHookline(['plugin', ...words], at(workspace, { env }));
}

function writeOwn({ home }: TempWorkspace, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) write(home, `${PLUGINS}/${name}`, text);
}

function named(name: string, more = ''): string {
  return `export default { name: '${name}', manifest: { capabilities: ['tools'] } ${more}};\n`;
}

/** The two entries of the documented package. */
const TWO = {
  'two/package.json': `{ "name": "two", "version": "2.0.0", ${seed('multiple-entries')} }`,
  'two/tools-plugin.ts': named('the-tools'),
  'two/hooks-plugin.ts': `export default { name: 'the-hooks', manifest: { capabilities: ['hooks'] }, hooks: { beforeTool() {} } };`,
};

async function listed(workspace: TempWorkspace, words: readonly string[] = []) {
  const result = await plugin(workspace, ['list', '--json', ...words]);
  return jsonOf(result).plugins as readonly Record<string, unknown>[];
}

describe('hookline plugin list', () => {
  it('says that there are none', async () => {
    expect(await plugin(createTempWorkspace(), ['list'])).toEqual({
      code: 0,
      stdout: 'No plugins found.\nInstall one with `hookline plugin install SOURCE`.\n',
      stderr: '',
    });
  });

  it('F5: shows every entry, whose it is, and what it contributes', async () => {
    const workspace = createTempWorkspace({ [`${PLUGINS}/team.ts`]: named('team') });
    writeOwn(workspace, { 'hello.ts': HELLO, ...TWO });
    const plugins = await listed(workspace);
    expect(
      plugins.map(({ name, version, package: owner, state, place: whose, hooks, contributes }) => ({
        name,
        version,
        owner,
        state,
        whose,
        hooks,
        tools: (contributes as { tools: unknown } | null)?.tools,
      })),
    ).toEqual(
      [
        {
          name: 'hello-plugin',
          version: null,
          owner: null,
          state: 'ready',
          whose: 'home',
          hooks: [],
          tools: ['say_hello'],
        },
        {
          name: 'the-hooks',
          version: '2.0.0',
          owner: 'two',
          state: 'ready',
          whose: 'home',
          hooks: ['beforeTool'],
          tools: [],
        },
        {
          name: 'the-tools',
          version: '2.0.0',
          owner: 'two',
          state: 'ready',
          whose: 'home',
          hooks: [],
          tools: [],
        },
        {
          name: 'team',
          version: null,
          owner: null,
          state: 'untrusted',
          whose: 'workspace',
          hooks: undefined,
          tools: undefined,
        },
      ].map((row) => ({ ...row, hooks: row.hooks ?? null })),
    );
  });

  it('is readable as text', async () => {
    const workspace = createTempWorkspace({ [`${PLUGINS}/team.ts`]: named('team') });
    writeOwn(workspace, TWO);
    const { stdout } = await plugin(workspace, ['list']);
    expect(stdout.split('\n')).toEqual([
      'the-hooks 2.0.0  ready',
      '  two · ~/.cline/plugins/two/hooks-plugin.ts',
      '  hooks: beforeTool',
      '',
      'the-tools 2.0.0  ready',
      '  two · ~/.cline/plugins/two/tools-plugin.ts',
      '',
      'team  untrusted: it was never trusted here',
      '  .cline/plugins/team.ts',
      '',
      '1 plugin needs review: run `hookline trust`',
      '',
    ]);
  });

  it('says by which name each can be switched off, which problems it has, and which skills it has', async () => {
    const workspace = createTempWorkspace();
    writeOwn(workspace, {
      'bad.ts': `export default { name: 'broken', manifest: { capabilities: ['tool'] } };`,
      'hello.ts': HELLO,
      'two/package.json': `{ "name": "two", "version": "2.0.0", "cline": { "plugins": [{ "paths": ["./two.ts"] }] } }`,
      'two/two.ts': named('two'),
      'two/skills/tidy/SKILL.md': '---\nname: tidy\ndescription: Tidies up.\n---\nTidy.\n',
    });
    const { stdout } = await plugin(workspace, ['list']);
    expect(stdout.split('\n')).toEqual([
      'broken  failed: Invalid manifest for extension "broken": capability "tool" not found; did you mean "tools"?',
      '  bad · ~/.cline/plugins/bad.ts',
      '',
      'hello-plugin  ready',
      '  hello · ~/.cline/plugins/hello.ts',
      '  tools: say_hello',
      '',
      'two 2.0.0  ready',
      '  ~/.cline/plugins/two/two.ts',
      '  skills: tidy',
      '',
    ]);
    expect((await plugin(workspace, ['disable', 'another'])).stderr).toBe(
      'hookline: plugin "another" not found\n  Plugins: bad, hello, two.\n',
    );
  });

  it('lists what a session would have: one plugin per name, and no tool under a name that is taken', async () => {
    const workspace = createTempWorkspace();
    const tool = (name: string): string =>
      `api.registerTool({ name: '${name}', description: '', inputSchema: {}, execute() {} });`;
    writeOwn(workspace, {
      'a.ts': named('twin'),
      'b.ts': named('twin'),
      'c.ts': named(
        'taken',
        `, setup(api) { ${tool('read_files')} ${tool('so so')} ${tool('own')} }`,
      ),
    });
    const later = path.join(workspace.home, PLUGINS, 'b.ts');
    const plugins = await listed(workspace);
    expect(plugins.map(({ name, state, why, notes }) => [name, state, why, notes])).toEqual([
      ['twin', 'failed', `another plugin of this name is used instead: ${later}`, []],
      ['twin', 'ready', '', []],
      [
        'taken',
        'ready',
        '',
        [
          "the tool read_files is left out: one of Hookline's own has this name; give it another one",
          'the tool "so so" is left out: a name has letters, digits, "_" and "-", at most 64',
        ],
      ],
    ]);
  });

  it('uses of one name in one directory the last path, as Cline does, however deep each lies', async () => {
    const workspace = createTempWorkspace({ 'turns.json': '[{ "text": "Done." }]' });
    writeOwn(workspace, {
      '_installed/local/twin-0123456789ab/twin.ts': named('twin'),
      'deep/twin.ts': named('twin'),
      'twin.ts': named('twin'),
    });
    const used = path.join(workspace.home, PLUGINS, 'twin.ts');
    const why = `another plugin of this name is used instead: ${used}`;
    const plugins = await listed(workspace);
    expect(plugins.map(({ path: file, state, why: told }) => [file, state, told])).toEqual([
      [expect.stringContaining('_installed'), 'failed', why],
      [expect.stringContaining('deep'), 'failed', why],
      [used, 'ready', ''],
    ]);
    const { stderr } = await runHookline(['run', '--script', 'turns.json', 'hi'], at(workspace));
    expect(stderr).toContain(`plugin twin: ${why}`);
  });

  it('F9, F10: a broken plugin does not affect the others', async () => {
    const workspace = createTempWorkspace();
    writeOwn(workspace, {
      'a-good.ts': HELLO,
      'b-syntax.ts': 'export default {',
      'c-hooks.ts': `export default { name: 'c', manifest: { capabilities: ['tools'] }, hooks: { beforeTool() {} } };`,
      'd-setup.ts': named('d', ', setup() { throw new Error("no luck"); }'),
      'e-disabled.ts': named('e', ', disabled: true'),
      'f-pack/package.json': '{ "cline": { "plugins": [{ "paths": ["../../x.ts"] }] } }',
      'g-aimed.ts': `export default { name: 'g', manifest: { capabilities: ['tools'], providerIds: ['nobody'] } };`,
      'helper.ts': 'export const help = 1;',
    });
    const plugins = await listed(workspace);
    expect(plugins.map(({ name, state, why }) => [name, state, why])).toEqual([
      ['hello-plugin', 'ready', ''],
      ['b-syntax', 'broken', expect.stringContaining('b-syntax.ts')],
      ['c', 'failed', expect.stringContaining('"hooks" must be among its capabilities')],
      ['d', 'failed', 'its setup failed, so nothing of it is used: no luck'],
      ['e', 'disabled', ''],
      ['g', 'skipped', 'it is made for nobody, and this session uses anthropic'],
      ['f-pack', 'broken', expect.stringContaining('it lies outside the package')],
    ]);
  });

  it('runs nothing with --no-load', async () => {
    const workspace = createTempWorkspace();
    const mark = path.join(workspace.directory, 'ran');
    const touch = `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(mark)}, '');\n`;
    writeOwn(workspace, { 'hello.ts': touch + HELLO });
    expect(await listed(workspace, ['--no-load'])).toMatchObject([
      { name: 'hello', state: 'ready', contributes: null },
    ]);
    expect(() => readFileSync(mark)).toThrow('ENOENT');
    await listed(workspace);
    expect(readFileSync(mark, 'utf8')).toBe('');
  });

  it('survives an error that nothing catches, and names its plugin', async () => {
    const workspace = createTempWorkspace();
    const late = 'setTimeout(() => { throw new Error("late"); });';
    const setup = `async setup() { ${late} await new Promise((resolve) => setTimeout(resolve, 50)); }`;
    writeOwn(workspace, { 'a.ts': named('a', `, ${setup}`), 'b.ts': named('b') });
    const result = await plugin(workspace, ['list', '--json']);
    expect({ code: result.code, ...jsonOf(result) }).toMatchObject({
      code: 0,
      plugins: [
        { name: 'a', notes: [expect.stringContaining('late')] },
        { name: 'b', notes: [] },
      ],
    });
  });

  it('loads each plugin in a process of its own on request', async () => {
    const workspace = createTempWorkspace();
    writeOwn(workspace, {
      'a.ts': named('a', ', setup() { process.exit(3); }'),
      'hello.ts': HELLO,
    });
    const env = { HOOKLINE_PLUGIN_ISOLATION: 'process' };
    const result = await plugin(workspace, ['list', '--json'], env);
    expect({ code: result.code, ...jsonOf(result) }).toMatchObject({
      code: 0,
      plugins: [
        { name: 'a', state: 'failed' },
        { name: 'hello-plugin', state: 'ready', contributes: { tools: ['say_hello'] } },
      ],
    });
  });

  it('ends although a plugin has left a timer, and keeps its output out of the answer', async () => {
    const workspace = createTempWorkspace();
    const setup = 'setup() { console.log("hi there"); setInterval(() => undefined, 1000); }';
    writeOwn(workspace, { 'timer.ts': named('timer', `, ${setup}`) });
    const result = await plugin(workspace, ['list', '--json']);
    expect(jsonOf(result).plugins).toMatchObject([{ name: 'timer', state: 'ready' }]);
    expect({ code: result.code, stderr: result.stderr }).toEqual({
      code: 0,
      stderr: 'timer says: hi there\n',
    });
  });
});

describe('hookline plugin enable and disable', () => {
  it('switches all entries of a plugin, by any of its names', async () => {
    const workspace = createTempWorkspace();
    writeOwn(workspace, TWO);
    expect((await plugin(workspace, ['disable', 'TWO'])).stdout).toBe(
      `Disabled two (in ${workspace.home}/.hookline/config.json).\n`,
    );
    expect((await listed(workspace)).map(({ state }) => state)).toEqual(['disabled', 'disabled']);
    expect((await plugin(workspace, ['enable', 'two'])).stdout).toBe('Enabled two.\n');
    const one = await plugin(workspace, ['disable', 'tools-plugin.ts', '--json']);
    expect(jsonOf(one)).toEqual({
      name: 'two',
      ids: ['plugin:home:two/tools-plugin'],
      enabled: false,
      file: `${workspace.home}/.hookline/config.json`,
    });
    expect((await listed(workspace)).map(({ state }) => state)).toEqual(['ready', 'disabled']);
  });

  it('says what Cline itself has switched off, and cannot switch that on', async () => {
    const workspace = createTempWorkspace();
    writeOwn(workspace, { 'hello.ts': HELLO });
    const file = path.join(workspace.home, PLUGINS, 'hello.ts');
    const settings = write(
      workspace.home,
      '.cline/data/settings/global-settings.json',
      JSON.stringify({ disabledPlugins: [file] }),
    );
    expect(await listed(workspace)).toMatchObject([{ state: 'disabled', enabled: false }]);
    const { code, stdout } = await plugin(workspace, ['enable', 'hello']);
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: `hello is still disabled: disabled in Cline: "disabledPlugins" of ${settings}\n`,
    });
  });

  it('knows which plugins there are', async () => {
    const workspace = createTempWorkspace();
    writeOwn(workspace, { 'hello.ts': HELLO, 'lib/hello.ts': named('other') });
    const results = [
      await plugin(workspace, ['disable', 'helo']),
      await plugin(workspace, ['disable', 'hello']),
    ];
    expect(results.map(({ code, stderr }) => ({ code, stderr }))).toEqual([
      { code: 2, stderr: 'hookline: plugin "helo" not found\n  Did you mean hello?\n' },
      {
        code: 2,
        stderr:
          'hookline: several plugins are called "hello": plugin:home:hello, plugin:home:hello~2\n  Pass the id or path of one of them.\n',
      },
    ]);
  });
});

describe('hookline plugin validate', () => {
  it('accepts the documented smallest plugin', async () => {
    const workspace = createTempWorkspace();
    const file = write(workspace.directory, 'hello.ts', HELLO);
    expect(await plugin(workspace, ['validate', '../hello.ts'])).toEqual({
      code: 0,
      stdout: `hello-plugin  fine\n  ${file}\n  tools: say_hello\n`,
      stderr: '',
    });
  });

  it('refuses what breaks the rules of the manifest, all of it, and only warns of it with --lenient', async () => {
    const workspace = createTempWorkspace();
    const file = write(
      workspace.directory,
      'loose.ts',
      `export default { name: 'loose', manifest: { capabilities: ['hooks'] }, setup(api) { api.registerCommand({ name: 'x' }); } };`,
    );
    const refused = await plugin(workspace, ['validate', file]);
    expect({ code: refused.code, lines: refused.stdout.split('\n') }).toEqual({
      code: 1,
      lines: [
        'loose  2 errors',
        `  ${file}`,
        '  commands: x',
        '  error validate: it declares the capability "hooks" and has no hooks',
        '  error setup: registerCommand requires the "commands" capability, which its manifest does not declare',
        '',
      ],
    });
    const lenient = await plugin(workspace, ['validate', file, '--lenient']);
    expect({ code: lenient.code, lines: lenient.stdout.split('\n') }).toEqual({
      code: 0,
      lines: [
        'loose  2 warnings',
        `  ${file}`,
        '  commands: x',
        '  warning validate: it declares the capability "hooks" and has no hooks',
        '  warning setup: registerCommand requires the "commands" capability, which its manifest does not declare; it is registered anyway',
        '',
      ],
    });
  });

  it.each([
    ['tools', 'api.registerTool({ name: "a", description: "", inputSchema: {}, execute() {} })'],
    ['messageBuilders', 'api.registerMessageBuilder({ name: "a", build: (all) => all })'],
    ['providers', 'api.registerProvider({ name: "a" })'],
    ['rules', 'api.registerRule({ id: "a", content: "a" })'],
  ])('refuses a registration without the capability %s', async (capability, registration) => {
    const workspace = createTempWorkspace();
    const text = `export default { name: 'x', manifest: { capabilities: ['commands'] }, setup(api) { ${registration}; } };`;
    const file = write(workspace.directory, 'x.ts', text);
    for (const env of [{}, { HOOKLINE_PLUGIN_ISOLATION: 'process' }]) {
      const result = await plugin(workspace, ['validate', file, '--json'], env);
      expect({ code: result.code, ...jsonOf(result) }).toMatchObject({
        code: 1,
        valid: false,
        plugins: [
          {
            findings: [
              {
                rule: 'setup',
                level: 'error',
                message: expect.stringContaining(`requires the "${capability}" capability`),
              },
            ],
          },
        ],
      });
    }
  });

  it('counts other warnings as errors with --strict only', async () => {
    const workspace = createTempWorkspace();
    const file = write(workspace.directory, 'off.ts', named('off', ', disabled: true '));
    expect(await plugin(workspace, ['validate', file])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('off  1 warning'),
    });
    expect(await plugin(workspace, ['validate', file, '--strict'])).toMatchObject({ code: 1 });
  });

  it.each([
    ['export default {', 'import'],
    ['export default { name: "x" };', 'validate'],
    ['export default { name: "x", manifest: { capabilities: ["tool"] } };', 'validate'],
    [named('x', ', setup() { throw new Error("no luck"); }'), 'setup'],
    ['import "no-such-package-anywhere";\nexport default { name: "x", manifest: {} };', 'import'],
  ])('names the plugin and the rule that it breaks: %j', async (text, rule) => {
    const workspace = createTempWorkspace();
    const file = write(workspace.directory, 'x.ts', text);
    const result = await plugin(workspace, ['validate', file, '--json']);
    expect({ code: result.code, ...jsonOf(result) }).toMatchObject({
      code: 1,
      valid: false,
      plugins: [{ name: 'x', path: file, findings: [{ rule, level: 'error' }] }],
    });
  });

  it('checks a package before anything of it runs', async () => {
    const workspace = createTempWorkspace();
    write(workspace.directory, 'p/package.json', '{ "cline": { "plugins": [{ "paths": [] }] } }');
    const result = await plugin(workspace, ['validate', '../p', '--json']);
    expect({ code: result.code, ...jsonOf(result) }).toMatchObject({
      code: 1,
      plugins: [{ findings: [{ rule: 'package', level: 'error' }] }],
    });
  });

  it('runs nothing of an untrusted workspace', async () => {
    const workspace = createTempWorkspace();
    const mark = path.join(workspace.directory, 'ran');
    const touch = `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(mark)}, '');\n`;
    write(workspace.repo, 'src/mine.ts', touch + HELLO);
    const { code, stdout } = await plugin(workspace, ['validate', 'src/mine.ts']);
    expect(code).toBe(1);
    expect(stdout).toContain('error trust: not loaded: untrusted: it was never trusted here');
    expect(() => readFileSync(mark)).toThrow('ENOENT');
  });

  it('trusts without a question with --yes, and prints what it trusts', async () => {
    const workspace = createTempWorkspace();
    write(workspace.repo, 'src/mine.ts', HELLO);
    const args = ['validate', 'src/mine.ts', '--json'];
    const validation = await plugin(workspace, [...args, '--yes']);
    expect({ code: validation.code, ...jsonOf(validation) }).toMatchObject({
      code: 0,
      valid: true,
    });
    expect(validation.stderr).toContain('say_hello');
    expect(validation.stderr).toContain('Trusted 1 plugin.');
    expect(jsonOf(await plugin(workspace, args))).toMatchObject({ valid: true });
    writeFileSync(path.join(workspace.repo, 'src/mine.ts'), `${HELLO}// more\n`);
    expect(jsonOf(await plugin(workspace, args))).toMatchObject({ valid: false });
  });

  it('trusts nothing with --yes inside of an agent’s session', async () => {
    const workspace = createTempWorkspace();
    write(workspace.repo, 'src/mine.ts', HELLO);
    const inside = { HOOKLINE_SESSION: 'session-1' };
    const { code, stderr } = await plugin(workspace, ['validate', 'src/mine.ts', '--yes'], inside);
    expect(code).toBe(1);
    expect(stderr).toContain('cannot run inside an agent session');
  });

  it.skipIf(!hasTerminal)('asks for trust on a terminal, and remembers the answer', async () => {
    const workspace = createTempWorkspace();
    write(workspace.repo, 'src/mine.ts', HELLO);
    const args = ['plugin', 'validate', 'src/mine.ts'];
    const askResult = await runInTerminal(args, at(workspace), {
      dialogue: [['Trust 1 plugin', 'y']],
    });
    expect(askResult).toMatchObject({ code: 0, stdout: expect.stringContaining('say_hello') });
    const again = await runHookline(args, at(workspace));
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('hello-plugin  fine') });
    writeFileSync(path.join(workspace.repo, 'src/mine.ts'), `${HELLO}// more\n`);
    expect((await runHookline(args, at(workspace))).stdout).toContain('not loaded: modified');
  });

  it.each(['./nothing', 'missing.ts', '../plugins/missing.mjs'])(
    'says that nothing is at %s',
    async (wanted) => {
      const workspace = createTempWorkspace();
      const { code, stderr } = await plugin(workspace, ['validate', wanted]);
      expect({ code, stderr: stderr.split('\n')[0] }).toEqual({
        code: 2,
        stderr: `hookline: no file or directory at ${path.resolve(workspace.repo, wanted)}`,
      });
    },
  );
});

describe('hookline plugin doctor', () => {
  interface Finding {
    readonly about: string;
    readonly level: string;
    readonly text: string;
  }

  async function findings(
    workspace: TempWorkspace,
    words: readonly string[] = [],
  ): Promise<readonly Finding[]> {
    return jsonOf(await plugin(workspace, ['doctor', '--json', ...words])).findings;
  }

  it('finds nothing wrong where nothing is', async () => {
    const { code, stdout } = await plugin(createTempWorkspace(), ['doctor']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^✓ hookline /u);
    expect(stdout).toMatch(/✓ loader +oxc-transform/u);
    expect(stdout).toContain('No problems found.');
  });

  it('reports changed bytes, leftovers, repeated names and what cannot be loaded', async () => {
    const workspace = createTempWorkspace();
    write(workspace.directory, 'one.ts', named('same'));
    const { installPath, entryPaths } = jsonOf(
      await plugin(workspace, ['install', '../one.ts', '--json']),
    );
    writeFileSync(entryPaths[0], `${named('same')}// edited\n`);
    writeOwn(workspace, {
      'two.ts': named('same'),
      'bad.ts': 'export default {',
      '_installed/.tmp/1-4194304-abcdef/new/x': '',
    });
    const found = await findings(workspace);
    // On a slow machine an import is reported, too.
    const rest = found.filter(
      ({ level, about, text }) =>
        level !== 'fine' &&
        !['npm', 'git', 'loader'].includes(about) &&
        !text.startsWith('imported in'),
    );
    expect(rest).toEqual([
      {
        about: 'left behind',
        level: 'hint',
        text: expect.stringContaining('by an interrupted install; the next install removes it'),
      },
      {
        about: 'one',
        level: 'problem',
        text: `one.ts in ${installPath}: differs from what was installed`,
      },
      { about: 'plugin:home:bad', level: 'problem', text: expect.stringContaining('bad.ts') },
      { about: 'same', level: 'hint', text: '2 plugins have this name, and one of them is used' },
    ]);
    const fine = found.filter(({ level }) => level === 'fine').map(({ about }) => about);
    expect(fine).not.toContain('plugin:home:bad');
    expect((await plugin(workspace, ['doctor'])).code).toBe(1);
  });

  it('F8: a plugin that imports values of @cline/core is ready long before Cline would give up', async () => {
    const workspace = createTempWorkspace();
    writeOwn(workspace, { 'hello.ts': HELLO });
    // Something else may have kept the machine busy, but not each time.
    await eventually(async () => {
      const hello = (await findings(workspace)).find(({ about }) => about === 'plugin:home:hello');
      const [, took = '', unit] = /^imported in ([\d.]+) (ms|s)/u.exec(hello?.text ?? '') ?? [];
      expect(took).not.toBe('');
      expect(Number(took) * (unit === 's' ? 1000 : 1)).toBeLessThan(4000);
    });
  });

  it('reports slow imports, and loads nothing with --no-load', async () => {
    const workspace = createTempWorkspace();
    const slow = `await new Promise((resolve) => setTimeout(resolve, 600));\n${named('slow')}`;
    writeOwn(workspace, { 'slow.ts': slow });
    expect(
      (await findings(workspace)).find(({ about }) => about === 'plugin:home:slow'),
    ).toMatchObject({
      level: 'hint',
      text: expect.stringMatching(/^imported in [\d.]+ m?s: every session waits for it$/u),
    });
    const unloaded = await findings(workspace, ['--no-load']);
    expect(unloaded.filter(({ about }) => about.startsWith('plugin:'))).toEqual([]);
  });
});

describe('hookline plugin demo', () => {
  it('runs runDemo() of the documented template as it is written', async () => {
    const service = await startService([
      { tools: [{ name: 'do_thing', input: { target: 'world' } }] },
      { text: 'The thing is done.' },
    ]);
    const workspace = createTempWorkspace();
    write(workspace.directory, 'my-plugin.ts', seed('single-file-template'));
    const env = { ANTHROPIC_API_KEY: 'test-key-of-nobody', HOOKLINE_BASE_URL: service.url };
    expect(await plugin(workspace, ['demo', '../my-plugin.ts'], env)).toEqual({
      code: 0,
      stdout: '[my-plugin] run started\n[my-plugin] done in 2 iteration(s)\nThe thing is done.\n',
      stderr: '',
    });
  });

  it('runs nothing untrusted', async () => {
    const workspace = createTempWorkspace();
    write(workspace.repo, 'my-plugin.ts', seed('single-file-template'));
    const { code, stdout, stderr } = await plugin(workspace, ['demo', 'my-plugin.ts']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^not run: untrusted: .*pass --yes/u);
  });

  it.each([
    [HELLO, 2, 'has no demo to run: it exports no function `runDemo`'],
    ['throw new Error("no luck");', 2, 'no luck'],
    ['export default {', 2, 'x.ts has no demo to run: '],
    [
      `${HELLO}export function runDemo() { throw new Error('no luck'); }`,
      1,
      'runDemo failed: no luck',
    ],
  ])('says what is wrong with it', async (text, code, message) => {
    const workspace = createTempWorkspace();
    write(workspace.directory, 'x.ts', text);
    const result = await plugin(workspace, ['demo', '../x.ts']);
    expect(result.code).toBe(code);
    expect(result.stderr).toContain(message);
  });
});
