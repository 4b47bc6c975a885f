import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHookline } from '../../../cli/hookline.ts';
import { createTempWorkspace, write } from '../../../cli/temp-workspace.ts';
import { createProgramWorkspace, runProgram } from '../sdk-program.ts';

const START = `
import { ClineCore, createTool } from 'hookline';
const start = async (more, input) => {
  const core = await ClineCore.create({ backendMode: 'local' });
  const started = await core.start({ config: config(more), prompt: 'go', ...input });
  return { core, ...started };
};
`;

describe('a session of the SDK, as in @cline/core', () => {
  it('gives the model an object with the error of a tool that throws', async () => {
    const { service } = await runProgram(
      `${START}
      const boom = createTool({
        name: 'boom', description: 'b', inputSchema: { type: 'object', properties: {} },
        execute: async () => { throw new Error('bad "news"'); },
      });
      const { core } = await start({ extraTools: [boom] });
      await core.dispose();`,
      [{ tools: [{ name: 'boom', input: {} }] }, { text: 'ok' }],
    );
    const results = service.requests()[1]?.messages.filter(({ role }) => role === 'tool');
    expect(results?.map(({ text }) => text)).toEqual(['{"error":"bad \\"news\\""}']);
  });

  it('adds nothing for an appendContext that is blank', async () => {
    const { service } = await runProgram(
      `${START}
      const hooks = { beforeRun: () => ({ appendContext: ' \\n' }), afterTool: () => ({ appendContext: '\\t' }) };
      const { core } = await start({ extensions: [{ name: 'p', manifest: { capabilities: ['hooks'] }, hooks }] });
      await core.dispose();`,
      [{ tools: [{ name: 'run_commands', input: { commands: ['true'] } }] }, { text: 'ok' }],
    );
    const texts = service.requests().flatMap(({ messages }) => messages.map(({ text }) => text));
    expect(texts.filter((text) => text.includes('system-reminder'))).toEqual([]);
  });

  it('offers no tools that edit in plan mode, for a session or for one prompt', async () => {
    const { service } = await runProgram(
      `${START}
      const planning = await start({ mode: 'plan' });
      await planning.core.dispose();
      const { core, sessionId } = await start({}, { interactive: true });
      await core.send({ sessionId, prompt: 'plan it', mode: 'plan' });
      await core.send({ sessionId, prompt: 'do it' });
      await core.dispose();`,
      [{ text: 'a' }, { text: 'b' }, { text: 'c' }, { text: 'd' }],
    );
    const hasEditor = service
      .requests()
      .map(({ tools }) => [tools.includes('editor'), tools.includes('apply_patch')]);
    expect(hasEditor).toEqual([
      [false, false],
      [true, true],
      [false, false],
      [true, true],
    ]);
  });

  it('tells plugins the same user in every session: an id of the machine', async () => {
    const program = `${START}
      const setup = (_api, { user }) => report(user.distinctId);
      const { core } = await start({ extensions: [{ name: 'p', manifest: { capabilities: ['tools'] }, setup }] });
      await core.dispose();`;
    const workspace = createProgramWorkspace();
    const ids = [];
    for (const USER of ['ada', 'bob']) {
      const { reports } = await runProgram<string>(program, [{ text: 'ok' }], {
        workspace,
        env: { USER },
      });
      ids.push(...reports);
    }
    expect(ids).toHaveLength(2);
    expect(ids[0]).toMatch(/^[\da-f-]{36,64}$/);
    expect(ids[1]).toBe(ids[0]);
  });
});

describe('editor, under the toolset cline-sdk', () => {
  /** Runs one call of `editor`, and returns what the model reads and the file afterwards. */
  async function edit(
    input: Readonly<Record<string, unknown>>,
    before: string | null = null,
  ): Promise<readonly [answer: string, text: string | null]> {
    const workspace = createTempWorkspace();
    const file = path.join(workspace.repo, 'a.txt');
    if (before !== null) write(workspace.repo, 'a.txt', before);
    const script = write(
      workspace.directory,
      'script.json',
      JSON.stringify([
        { tools: [{ name: 'editor', input: { path: file, ...input } }] },
        { text: 'ok' },
      ]),
    );
    const { stdout } = await runHookline(
      ['run', '--script', script, '--toolset', 'cline-sdk', '--output', 'stream-json', 'go'].concat(
        ['--permission-mode', 'bypassPermissions'],
      ),
      { cwd: workspace.repo, home: workspace.home },
    );
    const end = stdout
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
      .find(({ type }) => type === 'tool-end');
    const answer = end.output.error ?? end.output.text;
    return [answer.replaceAll(file, 'a.txt'), existsSync(file) ? readFileSync(file, 'utf8') : null];
  }

  it('needs no read, and does not write over a file that exists', async () => {
    expect(await edit({ old_text: 'one', new_text: 'ONE' }, 'one\ntwo\n')).toEqual([
      expect.stringContaining('has been updated'),
      'ONE\ntwo\n',
    ]);
    expect(await edit({ insert_line: 2, new_text: 'mid' }, 'one\ntwo\n')).toEqual([
      expect.stringContaining('has been updated'),
      'one\nmid\ntwo\n',
    ]);
    expect(await edit({ new_text: 'all' }, 'one\n')).toEqual([
      'a.txt already exists, and old_text is missing. Give the text to replace as old_text, or a line as insert_line.',
      'one\n',
    ]);
    expect(await edit({ new_text: 'fresh' })).toEqual([
      expect.stringContaining('created'),
      'fresh',
    ]);
  });

  it('makes a missing file although there is a text to replace, but inserts into none', async () => {
    expect(await edit({ old_text: 'zzz', new_text: 'y' })).toEqual([
      expect.stringContaining('created'),
      'y',
    ]);
    expect((await edit({ insert_line: 1, new_text: 'y' }))[1]).toBeNull();
  });

  it('refuses lines out of range, texts that are not there or too long', async () => {
    expect(await edit({ insert_line: 99, new_text: 'y' }, 'one\ntwo\n')).toEqual([
      'expected insert_line to be from 1 to 4 (4 appends), found 99',
      'one\ntwo\n',
    ]);
    expect((await edit({ insert_line: 0, new_text: 'y' }, 'one\n'))[1]).toBe('one\n');
    expect((await edit({ old_text: '', new_text: 'y' }, ''))[1]).toBe('');
    expect((await edit({ old_text: 'x', new_text: 'y' }, 'x x'))[1]).toBe('x x');
    expect(await edit({ new_text: 'x'.repeat(6001) })).toEqual([
      'new_text has 6001 characters, and at most 6000 fit into one call. Make several smaller changes.',
      null,
    ]);
  });
});
