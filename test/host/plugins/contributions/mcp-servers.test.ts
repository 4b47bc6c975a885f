import { describe, expect, it } from 'vitest';
import { readPluginServers } from '../../../../src/host/plugins/contributions/mcp-servers.ts';
import { issues, pluginWith } from './plugin-servers.ts';

const NOBODY = { findDirectory: () => null, env: {}, reservedNames: [] };
const STDIO = { type: 'stdio', command: 'node' };

describe('a server that a plugin registers', () => {
  it('is a program that starts in the plugin’s directory', async () => {
    const { reports, onIssue } = issues();
    const active = [await pluginWith('docs', { name: ' lookup ', transport: STDIO })];
    const servers = readPluginServers(
      active,
      { ...NOBODY, findDirectory: () => '/plugins/docs' },
      onIssue,
    );
    expect(servers).toEqual([
      {
        name: 'lookup',
        source: 'plugin',
        file: '/plugins/docs',
        line: 1,
        place: 'given',
        root: null,
        endpoint: { type: 'stdio', command: 'node', args: [], env: {}, cwd: '/plugins/docs' },
        text: '["docs","lookup","stdio","node"]',
        timeoutMs: null,
        whyOff: null,
        variables: {},
        isLiteral: true,
      },
    ]);
    expect(reports).toEqual([]);
  });

  it.each([
    ['its own place', { cwd: '/srv' }, '/plugins/docs', '/srv'],
    ['a place beside it', { cwd: 'tools' }, '/plugins/docs', '/plugins/docs/tools'],
    ['no place of an object', {}, null, null],
  ])('may name %s', async (_what, more, directory, cwd) => {
    const active = [await pluginWith('docs', { name: 'lookup', transport: { ...STDIO, ...more } })];
    const [server] = readPluginServers(
      active,
      { ...NOBODY, findDirectory: () => directory },
      () => undefined,
    );
    expect(server?.endpoint).toMatchObject({ cwd });
  });

  it('has the variables that it sets, and those that it only names', async () => {
    const env = {
      PLAIN: 'text with ${HOME}',
      OWN: {},
      OTHER: { fromEnv: 'KNOWN' },
      USUAL: { fromEnv: 'ABSENT', value: 'usual' },
      EMPTY: { value: 'not empty' },
      NONE: { fromEnv: 'ABSENT' },
      NEEDED: { fromEnv: ' KNOWN ', required: true },
    };
    const active = [
      await pluginWith('docs', {
        name: 'lookup',
        transport: { ...STDIO, env: { INNER: '1', PLAIN: 'below' } },
        env,
      }),
    ];
    const knownVariables = { KNOWN: 'k', OWN: 'o', EMPTY: '' };
    const [server] = readPluginServers(active, { ...NOBODY, env: knownVariables }, () => undefined);
    expect(server?.endpoint).toMatchObject({
      env: {
        INNER: '1',
        PLAIN: 'text with ${HOME}',
        OWN: 'o',
        OTHER: 'k',
        USUAL: 'usual',
        EMPTY: 'not empty',
        NEEDED: 'k',
      },
    });
    expect(server?.text).not.toContain('usual');
  });

  it('is a service', async () => {
    const url = 'https://example.test/mcp';
    const headers = { authorization: 'Bearer x' };
    const transport = { type: 'streamableHttp', url, headers };
    const active = [await pluginWith('docs', { name: 'remote', transport })];
    const [server] = readPluginServers(active, NOBODY, () => undefined);
    expect(server?.endpoint).toEqual({ type: 'http', url, headers });
  });
});

describe('an unusable server is left out, with the plugin’s name and the rule', () => {
  const http = { type: 'streamableHttp', url: 'https://example.test' };
  const bad: readonly [object, string][] = [
    [{ name: 'x' }, 'expected "transport" to be an object, found nothing'],
    [
      { name: 'x', transport: { type: 'pigeon' } },
      'expected "transport.type" to be "stdio" or "streamableHttp", found "pigeon"',
    ],
    [
      { name: 'x', transport: { type: 'sse', url: 'https://example.test' } },
      'its transport is "sse", which Hookline does not speak; most services that have it answer to "streamableHttp", too',
    ],
    [
      { name: 'x', transport: { type: 'stdio' } },
      'expected "transport.command" to be a text, found nothing',
    ],
    [
      { name: 'x', transport: { type: 'streamableHttp', url: '  ' } },
      'expected "transport.url" to be a text, found string',
    ],
    [
      { name: 'x', transport: { type: 'streamableHttp', url: 'file:///etc/passwd' } },
      'expected "transport.url" to be an address of http or https, found "file:///etc/passwd"',
    ],
    [
      { name: 'x', transport: { ...STDIO, args: ['a', 1] } },
      'expected "transport.args" to be a list of texts',
    ],
    [
      { name: 'x', transport: { ...STDIO, cwd: 5 } },
      'expected "transport.cwd" to be a text, found number',
    ],
    [
      { name: 'x', transport: { ...STDIO, env: { A: 1 } } },
      'expected "transport.env.A" to be a text or { fromEnv, value, required }, found number',
    ],
    [{ name: 'x', transport: STDIO, env: 'A=1' }, 'expected "env" to be an object, found string'],
    [
      { name: 'x', transport: STDIO, env: { A: { fromEnv: 1 } } },
      'expected "env.A" to be a text or { fromEnv, value, required }, found object',
    ],
    [
      { name: 'x', transport: { ...http, headers: { a: 1 } } },
      'expected "transport.headers" to be texts by name',
    ],
    [{ name: 'x', transport: http, env: {} }, '"env" is for a "stdio" transport only'],
    [
      { name: 'x', transport: STDIO, env: { TOKEN: { fromEnv: 'ABSENT', required: true } } },
      'it needs the variable ABSENT, which is not set',
    ],
    [
      {
        name: 'x',
        transport: {
          get type(): string {
            throw new TypeError('no');
          },
        },
      },
      'it cannot be read: no',
    ],
  ];

  it.each(bad.map(([server, problem]) => [problem, server] as const))(
    '%s',
    async (problem, server) => {
      const { reports, onIssue } = issues();
      const good = { name: 'good', transport: STDIO };
      const servers = readPluginServers([await pluginWith('docs', server, good)], NOBODY, onIssue);
      expect(servers.map(({ name }) => name)).toEqual(['good']);
      expect(reports).toEqual([
        {
          plugin: 'docs',
          phase: 'mcp',
          level: 'warning',
          message: `the MCP server "x" is left out: ${problem}`,
        },
      ]);
    },
  );

  it('an empty name fails the setup already', async () => {
    await expect(pluginWith('docs', { name: ' ', transport: STDIO })).rejects.toMatchObject({
      code: 'PLUGIN_INVALID',
      message: 'registerMcpServer of the plugin "docs" expects "name" to be a text, found string',
    });
  });

  it('a name that is taken, also one that only looks different', async () => {
    const { reports, onIssue } = issues();
    const active = [
      await pluginWith('one', { name: 'my srv', transport: STDIO }),
      await pluginWith('two', { name: 'other', transport: STDIO }),
      await pluginWith('three', { name: 'other', transport: STDIO }),
    ];
    const servers = readPluginServers(active, { ...NOBODY, reservedNames: ['my_srv'] }, onIssue);
    expect(servers.map(({ name, text }) => [name, text.includes('"two"')])).toEqual([
      ['other', true],
    ]);
    expect(reports.map(({ plugin, message }) => `${plugin}: ${message}`)).toEqual([
      'one: the MCP server "my srv" is left out: a configured server has this name',
      'three: the MCP server "other" is left out: a server of the plugin two has this name',
    ]);
  });
});
