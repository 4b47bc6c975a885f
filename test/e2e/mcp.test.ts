import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { withEnoughTime } from '../base/directory.ts';
import type { HooklineResult } from '../cli/hookline.ts';
import { createTempWorkspace, trust, write } from '../cli/temp-workspace.ts';
import { badEntry, exampleEntry } from '../mcp/servers.ts';
import { isAlive, until } from '../process/programs.ts';
import { DONE, linesOf, runScript, startScript, toolEnds, written } from './agent-run.ts';

const STREAM = ['--output', 'stream-json', '--permission-mode', 'bypassPermissions', 'go'];

function servers(entries: Readonly<Record<string, object>>): string {
  return JSON.stringify({ mcpServers: entries });
}

function call(name: string, input: object = {}) {
  return { tools: [{ name, input }] };
}

describe('hookline run with MCP servers', () => {
  it('starts those of the workspace once they are trusted, and ends them with the run', async () => {
    const workspace = createTempWorkspace({ '.mcp.json': servers({ ours: exampleEntry('pids') }) });
    const turns = [call('mcp__ours__echo', { text: 'hi' }), DONE];
    const before = await runScript(workspace, turns, STREAM);
    trust(workspace);
    const after = await runScript(workspace, turns, STREAM);
    const pids = readFileSync(path.join(workspace.repo, 'pids'), 'utf8')
      .trim()
      .split(' ')
      .map(Number);
    await until(() => !pids.some(isAlive));
    expect({
      before: before.stderr,
      answers: toolEnds(after).map(({ output }) => output),
      after: after.stderr,
    }).toEqual({
      before:
        'note: the MCP server ours (.mcp.json:1) is not started (untrusted: it was never trusted here): review it with `hookline trust`\n',
      answers: [
        { response: [{ type: 'text', text: 'echo: hi' }], text: 'echo: hi', success: true },
      ],
      after: '',
    });
  });

  it('is not held up by one that hangs, and reports what is wrong with each', async () => {
    const workspace = createTempWorkspace();
    write(
      workspace.home,
      '.hookline/mcp.json',
      servers({
        hanging: badEntry('hang'),
        dying: badEntry('exit'),
        flooding: badEntry('flood'),
        lying: badEntry('lie'),
        good: exampleEntry(),
      }),
    );
    const turns = [
      call('mcp__good__echo', { text: 'hi' }),
      call('mcp__lying__no-schema'),
      call('mcp__good__die'),
      call('mcp__good__echo', { text: 'again' }),
      DONE,
    ];
    const textsOf = (input: HooklineResult): readonly unknown[] =>
      toolEnds(input).map(({ output }) => JSON.parse(JSON.stringify(output)).text);
    const { result, limitMs } = await withEnoughTime(
      3000,
      async (input) => ({
        limitMs: input,
        result: await runScript(workspace, turns, STREAM, { env: { MCP_TIMEOUT: String(input) } }),
      }),
      (ran) => !ran.result.stderr.includes('MCP server good is not connected'),
    );
    expect({ code: result.code, texts: textsOf(result) }).toEqual({
      code: 0,
      texts: [
        'echo: hi',
        'fine\n[a block of type "odd" that cannot be shown]',
        'the MCP server good was lost while it worked: it ended with exit code 7; stderr: the example server is up',
        'echo: again',
      ],
    });
    expect(result.stderr).toContain(
      `the MCP server hanging is not connected: it did not answer within ${limitMs} ms`,
    );
    expect(result.stderr).toContain(
      'the MCP server dying is not connected: it ended with exit code 3; stderr: cannot find my settings',
    );
    expect(result.stderr).toContain('its tool no-schema has no usable input schema');
  });

  it('ends its servers when it is interrupted', async () => {
    const workspace = createTempWorkspace();
    const pidFile = path.join(workspace.directory, 'pids');
    write(workspace.home, '.hookline/mcp.json', servers({ srv: exampleEntry(pidFile) }));
    const child = startScript(workspace, [call('mcp__srv__hang'), DONE], STREAM);
    const pids = (await written(pidFile)).split(' ').map(Number);
    child.kill('SIGINT');
    await until(() => !pids.some(isAlive));
    expect(pids).toHaveLength(2);
  });

  it('loads nothing for servers where there are none', async () => {
    const workspace = createTempWorkspace();
    const loaded = async (): Promise<boolean> => {
      const result = await runScript(workspace, [DONE], STREAM, {
        env: { NODE_DEBUG: 'module,esm' },
      });
      expect(linesOf(result).at(-1)).toMatchObject({ type: 'result', status: 'completed' });
      return result.stderr.includes('@modelcontextprotocol');
    };
    const without = await loaded();
    write(workspace.home, '.hookline/mcp.json', servers({ srv: exampleEntry() }));
    expect([without, await loaded()]).toEqual([false, true]);
  });
});
