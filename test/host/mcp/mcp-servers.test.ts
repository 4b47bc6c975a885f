import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createAgentFixture, type AgentFixture } from '../../agent/agent-fixture.ts';
import { calls, named, on, createModelRecorder } from '../../agent/scripted-session.ts';
import { badEntry, exampleEntry, serveExample } from '../../mcp/servers.ts';
import { bypass, OWN, run, servers, stateOf, trustAll } from './run-with-servers.ts';

describe('an agent with MCP servers', () => {
  it('is sent their tools with the first request, and calls them under every name', async () => {
    const fixture = createAgentFixture();
    fixture.write(OWN, servers({ srv: exampleEntry() }));
    const { answers, notices, requests } = await run(fixture, [
      ['mcp__srv__echo', { text: 'claude' }],
      ['use_mcp_tool', { server_name: 'srv', tool_name: 'echo', arguments: { text: 'classic' } }],
      ['srv__echo', { text: 'sdk' }],
      ['mcp__srv__fail', {}],
      ['mcp__srv__echo', 'no object'],
    ]);
    const offered = requests[0]?.tools.map(({ name }) => name) ?? [];
    expect({
      answers,
      notices,
      offered: offered.filter((name) => /mcp/i.test(name)),
    }).toEqual({
      answers: [
        'echo: claude',
        'echo: classic',
        'echo: sdk',
        'it did not work',
        'The arguments of mcp__srv__echo are not valid JSON: no object',
      ],
      notices: [],
      offered: [
        'mcp__srv__echo',
        'mcp__srv__fail',
        'mcp__srv__environment',
        'mcp__srv__picture',
        'mcp__srv__big',
        'mcp__srv__die',
        'mcp__srv__hang',
        'mcp__srv__grow',
        'mcp__srv__ask',
        'mcp__srv__ask-url',
        'ListMcpResourcesTool',
        'ReadMcpResourceTool',
      ],
    });
  });

  it('passes hooks the server of a tool, and its answer', async () => {
    const fixture = createAgentFixture();
    fixture.write(OWN, servers({ srv: exampleEntry() }));
    await run(fixture, [
      ['mcp__srv__echo', { text: 'hi' }],
      ['mcp__srv__fail', {}],
    ]);
    const mcpServer = { name: 'srv', source: 'user' };
    expect([
      ...named(fixture, 'PreToolUse').map((event) => event.mcpServer),
      ...named(fixture, 'PostToolUse').map((event) => [event.mcpServer, event.result.response]),
      ...named(fixture, 'PostToolUseFailure').map((event) => [event.mcpServer, event.result.error]),
    ]).toEqual([
      mcpServer,
      mcpServer,
      [mcpServer, [{ type: 'text', text: 'echo: hi' }]],
      [mcpServer, 'it did not work'],
    ]);
  });

  it('asks before a call that no rule allows, whatever the server’s annotations', async () => {
    const fixture = createAgentFixture();
    fixture.write(OWN, servers({ srv: exampleEntry() }));
    const { answers } = await run(
      fixture,
      [
        ['mcp__srv__echo', { text: 'hi' }],
        ['mcp__srv__environment', { name: 'X' }],
        ['mcp__srv__fail', {}],
      ],
      { permissionMode: 'default', allow: ['mcp__srv__environment'], deny: ['mcp__srv__fail'] },
    );
    expect(answers).toEqual([
      'No rule allows mcp__srv__echo, and in the mode default it needs approval. No user is available to approve it, so the call is denied.',
      'X=(not set)',
      'Permission to use mcp__srv__fail has been denied by the rule mcp__srv__fail of --deny.',
    ]);
  });

  it('asks a user, whatever the mode, before a server gets the path of a file that decides what runs', async () => {
    const fixture = createAgentFixture();
    fixture.write(OWN, servers({ srv: exampleEntry() }));
    const { answers } = await run(fixture, [['mcp__srv__echo', { text: '.claude/settings.json' }]]);
    const file = `${fixture.workspace}/.claude/settings.json`;
    expect(answers).toEqual([
      `mcp__srv__echo needs approval in every mode: it touches ${file}, which controls what runs here. No user is available to approve it, so the call is denied.`,
    ]);
  });

  it('gets a notice that a server of the user is new, or has changed', async () => {
    const fixture = createAgentFixture();
    const notices: (readonly string[])[] = [];
    for (const entries of [
      { one: exampleEntry() },
      { one: exampleEntry(), two: badEntry('fine') },
      { one: exampleEntry('pids'), two: badEntry('fine') },
    ]) {
      fixture.write(OWN, servers(entries));
      const reports = (await run(fixture, [])).notices;
      notices.push(reports.filter((text) => text.includes('since the last run')));
    }
    expect(notices).toEqual([
      [],
      ['new MCP server since the last run: two (~/.hookline/mcp.json:1)'],
      ['MCP server changed since the last run: one (~/.hookline/mcp.json:1)'],
    ]);
  });

  it('passes on pictures and links, and puts what is too long into a file', async () => {
    const fixture = createAgentFixture();
    fixture.write(OWN, servers({ srv: exampleEntry() }));
    const { answers } = await run(fixture, [
      ['mcp__srv__picture', {}],
      ['mcp__srv__big', { bytes: 50_000_000 }],
    ]);
    const [picture = '', big = ''] = answers;
    const [, file = ''] = /saved to: (\S+)/.exec(big) ?? [];
    expect(picture).toContain('"text":"a pixel\\n[Resource link: one] note://one"');
    expect(picture).toContain('"media_type":"image/png"');
    expect(big.length).toBeLessThan(5000);
    expect(readFileSync(file, 'utf8').length).toBe(50_000_000);
  });

  it('reads resources, and gets the names of servers that have none', async () => {
    const fixture = createAgentFixture();
    fixture.write(OWN, servers({ srv: exampleEntry(), bad: badEntry('fine') }));
    const { answers } = await run(fixture, [
      ['ListMcpResourcesTool', {}],
      ['ReadMcpResourceTool', { server: 'srv', uri: 'note://one' }],
      ['ReadMcpResourceTool', { server: 'bad', uri: 'note://one' }],
    ]);
    expect(answers).toEqual([
      '[{"uri":"note://one","name":"one","mimeType":"text/plain","server":"srv"}]',
      'the first note',
      'MCP server "bad" not found, or it has no resources. Servers with resources: srv.',
    ]);
  });

  it('expands a prompt of a server, unless a hook blocks it', async () => {
    const fixture = createAgentFixture(
      on('UserPromptExpansion', ({ commandArguments }) =>
        commandArguments === 'secret.ts' ? { effect: 'deny', reason: 'not that' } : undefined,
      ),
    );
    fixture.write(OWN, servers({ srv: exampleEntry() }));
    const chat = createModelRecorder([{ text: 'Fine.' }]);
    const host = await fixture.open({ model: chat.model, ...bypass });
    const { sessionId, result } = await host.start({ prompt: '/mcp__srv__review "my file.ts"' });
    const blocked = await host.send(sessionId, '/mcp__srv__review secret.ts');
    const wrong = await host.send(sessionId, '/mcp__srv__review');
    expect({
      said: chat.requests[0]?.messages.at(-1)?.content.at(-1),
      ending: result?.ending,
      kinds: named(fixture, 'UserPromptExpansion').map(({ kind, command }) => [kind, command]),
      blocked: blocked.ending,
      wrong: [wrong.ending, wrong.reason?.startsWith('/mcp__srv__review could not be had:')],
    }).toEqual({
      said: { type: 'text', text: 'Please review my file.ts.' },
      ending: 'done',
      kinds: Array.from({ length: 3 }, () => ['mcp_prompt', 'mcp__srv__review']),
      blocked: 'refused',
      wrong: ['refused', true],
    });
  });

  it('goes on without a server that fails, with a notice', async () => {
    const fixture = createAgentFixture();
    fixture.write(
      OWN,
      servers({
        gone: { command: 'no-such-program' },
        unset: { command: 'x', args: ['${NOT_SET_ANYWHERE}'] },
        wrong: { command: 7 },
        srv: exampleEntry(),
      }),
    );
    const { answers, notices } = await run(fixture, [['mcp__srv__echo', { text: 'hi' }]]);
    expect({ answers, notices: notices.toSorted() }).toEqual({
      answers: ['echo: hi'],
      notices: [
        'the MCP server gone is not connected: Could not start no-such-program: no program of this name is on the PATH.',
        'the MCP server unset is not connected: its entry uses variables that are not set: NOT_SET_ANYWHERE',
        '~/.hookline/mcp.json:1: the MCP server "wrong": "command": expected a program, found number 7',
      ],
    });
  });

  it('uses servers that the caller gives, over http, too', async () => {
    const { url } = await serveExample();
    const fixture = createAgentFixture();
    const { answers } = await run(fixture, [['mcp__web__echo', { text: 'hi' }]], {
      mcpConfig: [servers({ web: { type: 'http', url } })],
    });
    expect(answers).toEqual(['echo: hi']);
  });

  it('lets a hook’s output replace a tool’s', async () => {
    const fixture = createAgentFixture(
      on('PostToolUse', {
        output: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      }),
    );
    fixture.write(OWN, servers({ srv: exampleEntry() }));
    const { answers } = await run(fixture, [['mcp__srv__echo', { text: 'hi' }]]);
    expect(answers).toEqual(['a\nb']);
  });
});

describe('MCP servers of Claude Code and Cline', () => {
  it('are found where these keep them; the nearer one counts', async () => {
    const fixture = createAgentFixture();
    fixture.write(
      '~/.claude.json',
      JSON.stringify({
        mcpServers: { both: { command: 'no-such-user' }, user: exampleEntry() },
        projects: { [fixture.workspace]: { mcpServers: { both: exampleEntry() } } },
      }),
    );
    fixture.write(
      '~/.cline/data/settings/cline_mcp_settings.json',
      servers({
        cline: { transport: { type: 'stdio', ...exampleEntry() } },
        off: { ...exampleEntry(), disabled: true },
      }),
    );
    const host = await fixture.open({});
    expect(stateOf(await host.mcpServers())).toEqual([
      { name: 'both', source: 'local', state: 'connected', why: '', tools: 10 },
      {
        name: 'both',
        source: 'user',
        state: 'unused',
        why: 'another server has this name',
        tools: 0,
      },
      { name: 'user', source: 'user', state: 'connected', why: '', tools: 10 },
      { name: 'cline', source: 'user', state: 'connected', why: '', tools: 10 },
      {
        name: 'off',
        source: 'user',
        state: 'withheld',
        why: 'disabled: its entry says "disabled"',
        tools: 0,
      },
    ]);
  });
});

describe('MCP servers of a workspace', () => {
  const createServerEntry = (): object => ({
    command: process.execPath,
    args: ['serve.mjs'],
  });
  const script = `import ${JSON.stringify(exampleEntry().args[0])};\n`;

  it('start once their entry and the files that they name are trusted, and not after a change', async () => {
    const fixture = createAgentFixture();
    fixture.write('.mcp.json', servers({ ours: createServerEntry() }));
    fixture.write('serve.mjs', script);
    const host = await fixture.open({});
    const before = stateOf(await host.mcpServers());
    await trustAll(host);
    const after = stateOf(await host.mcpServers());
    await host.dispose();
    fixture.write('serve.mjs', `${script}// changed\n`);
    const later = await fixture.open({});
    const changed = stateOf(await later.mcpServers());
    const ours = { name: 'ours', source: 'project' };
    expect([before, after, changed]).toEqual([
      [{ ...ours, state: 'withheld', why: 'untrusted: it was never trusted here', tools: 0 }],
      [{ ...ours, state: 'connected', why: '', tools: 10 }],
      [
        {
          ...ours,
          state: 'withheld',
          why: 'modified: serve.mjs changed since it was trusted',
          tools: 0,
        },
      ],
    ]);
  });

  it('are trusted one by one, also when two have the same name', async () => {
    const fixture = createAgentFixture();
    fixture.write('.mcp.json', servers({ ours: { command: 'one' } }));
    fixture.write('.claude/settings.json', servers({ ours: { command: 'two' } }));
    const host = await fixture.open({});
    await trustAll(host);
    expect(host.hooks().map(({ hook, state }) => [hook.id, state])).toEqual([
      ['claude:project:mcp:ours@settings.json', 'ready'],
      ['claude:project:mcp:ours', 'ready'],
    ]);
  });

  it('are skipped with a notice until then, and never stand in the way of the user’s own', async () => {
    const fixture = createAgentFixture();
    fixture.write('.mcp.json', servers({ srv: { command: 'touch', args: ['started'] } }));
    fixture.write(OWN, servers({ srv: exampleEntry() }));
    const { answers, notices } = await run(fixture, [['mcp__srv__echo', { text: 'mine' }]]);
    expect({ answers, notices }).toEqual({
      answers: ['echo: mine'],
      notices: [
        'the MCP server srv (.mcp.json:1) is not started (untrusted: it was never trusted here): review it with `hookline trust`',
      ],
    });
    expect(() => readFileSync(`${fixture.workspace}/started`)).toThrow('ENOENT');
  });

  it('do not get the keys of model providers, nor can their entries name them', async () => {
    const fixture = createAgentFixture();
    fixture.write(
      '.mcp.json',
      servers({
        ours: exampleEntry(),
        greedy: { ...exampleEntry(), env: { K: '${OPENAI_API_KEY}' } },
      }),
    );
    fixture.write(OWN, servers({ mine: exampleEntry() }));
    const environment = ['environment', { name: 'OPENAI_API_KEY' }] as const;
    const { answers, notices } = await run(
      fixture,
      [
        [`mcp__ours__${environment[0]}`, environment[1]],
        [`mcp__mine__${environment[0]}`, environment[1]],
      ],
      {
        trust: 'all',
        surroundings: {
          cwd: fixture.workspace,
          env: { PATH: process.env['PATH'], HOME: fixture.home, OPENAI_API_KEY: 'sk-1' },
          home: fixture.home,
          platform: process.platform,
          nodePath: process.execPath,
        },
      },
    );
    expect({ answers, notices }).toEqual({
      answers: ['OPENAI_API_KEY=(not set)', 'OPENAI_API_KEY=sk-1'],
      notices: [
        'the MCP server greedy is not connected: its entry uses variables that are not set: OPENAI_API_KEY',
      ],
    });
  });
});

describe('a hook that calls an MCP tool', () => {
  function withHook(server: string): AgentFixture {
    const fixture = createAgentFixture();
    const hook = {
      type: 'mcp_tool',
      server,
      tool: 'echo',
      input: { text: '${tool_input.command}' },
    };
    const hooks = { PostToolUse: [{ matcher: 'Bash', hooks: [hook] }] };
    fixture.write('~/.claude/settings.json', JSON.stringify({ hooks }));
    fixture.write(OWN, servers({ srv: exampleEntry() }));
    return fixture;
  }

  it('has it called, and fails with a message when there is no such server', async () => {
    const outcomes: unknown[] = [];
    for (const server of ['srv', 'nobody']) {
      const fixture = withHook(server);
      await run(fixture, [['Bash', { command: 'true' }]]);
      const verdicts = fixture.runtimeEvents.flatMap((event) =>
        event.type === 'hook' && event.verdict.event === 'PostToolUse' ? [event.verdict] : [],
      );
      for (const { hook, stdout, failure } of verdicts.flatMap((verdict) => verdict.outcomes)) {
        if (hook.startsWith('claude:')) outcomes.push({ stdout, failure: failure?.message });
      }
    }
    expect(outcomes).toEqual([
      { stdout: 'echo: true', failure: undefined },
      { stdout: null, failure: "MCP server 'nobody' not connected" },
    ]);
  });

  it('does not read the configuration again', async () => {
    const fixture = withHook('srv');
    const chat = createModelRecorder([
      { text: 'Hello.' },
      calls(['Bash', { command: 'true' }]),
      { text: 'Done.' },
    ]);
    const notices: string[] = [];
    const onNotice = (text: string): void => void notices.push(text);
    const host = await fixture.open({ model: chat.model, ...bypass, onNotice });
    const { sessionId } = await host.start({ prompt: 'hi' });
    fixture.write(OWN, servers({ srv: exampleEntry(), wrong: { command: 7 } }));
    const { ending } = await host.send(sessionId, 'go');
    expect({ ending, notices }).toEqual({ ending: 'done', notices: [] });
  });
});
