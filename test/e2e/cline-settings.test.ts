import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHookline } from '../cli/hookline.ts';
import {
  at,
  createTempWorkspace,
  GLOBAL_HOOKS,
  nodeHook,
  type TempWorkspace,
  trust,
  write,
} from '../cli/temp-workspace.ts';
import { bash, DONE, errorOf, readMessagesText, runScript, toolEnds } from './agent-run.ts';
import { logOf } from './hook-log.ts';

const SETTINGS = '.cline/settings.json';
const BYPASS = ['--permission-mode', 'bypassPermissions'];
const STREAM = ['go', ...BYPASS, '--output', 'stream-json'];

/** A hook of each event that answers with this. */
function settings(answers: Readonly<Record<string, object>>, more: object = {}): string {
  const hooks = Object.entries(answers).map(([event, answer]) => {
    const command = `cat > /dev/null; printf '%s' '${JSON.stringify(answer)}'`;
    return [event, [{ matcher: '*', hooks: [{ type: 'command', command }] }]];
  });
  return JSON.stringify({ ...more, hooks: Object.fromEntries(hooks) });
}

describe('.cline/settings.json', () => {
  it('of the home is read, and approve: false denies with its message', async () => {
    const workspace = createTempWorkspace();
    const answer = { approve: false, message: 'not this one' };
    write(workspace.home, SETTINGS, settings({ PreToolUse: answer }));
    const result = await runScript(workspace, [bash('touch made'), DONE], STREAM);
    expect(toolEnds(result)[0]).toMatchObject({ deniedBy: 'hook' });
    expect(errorOf(toolEnds(result)[0])).toContain('not this one');
    expect(existsSync(path.join(workspace.repo, 'made'))).toBe(false);
  });

  it('of a workspace counts once it is trusted', async () => {
    const workspace = createTempWorkspace({
      [SETTINGS]: settings({ PreToolUse: { approve: false, message: 'no' } }),
    });
    const script = [bash('echo hi'), DONE];
    const before = await runScript(workspace, script, STREAM);
    expect(toolEnds(before)[0]).toMatchObject({ deniedBy: null });
    expect(before.stderr).toContain('claude:project-cline-settings:PreToolUse');
    trust(workspace);
    expect(toolEnds(await runScript(workspace, script, STREAM))[0]).toMatchObject({
      deniedBy: 'hook',
    });
  });

  it('may rewrite input and output, and add contexts', async () => {
    const workspace = createTempWorkspace();
    const output = { stdout: 'replaced', stderr: '', interrupted: false, isImage: false };
    write(
      workspace.home,
      SETTINGS,
      settings({
        PreToolUse: { approve: true, modifiedInput: { command: 'touch other' } },
        PostToolUse: { modifiedOutput: output, additionalContext: ['first', 'second'] },
      }),
    );
    const [end] = toolEnds(await runScript(workspace, [bash('touch made'), DONE], STREAM));
    expect(existsSync(path.join(workspace.repo, 'other'))).toBe(true);
    expect(existsSync(path.join(workspace.repo, 'made'))).toBe(false);
    expect(end?.['output']).toMatchObject({ text: 'replaced' });
    const messages = readMessagesText(workspace, String(end?.['sessionId']));
    expect(messages).toContain(JSON.stringify('first\n\nsecond').slice(1, -1));
  });

  it.each([
    ['Bash', { command: 'echo made' }],
    ['Read', { file_path: 'a.txt' }],
    ['Grep', { pattern: 'first', output_mode: 'content' }],
  ])('may replace the output of %s by a text', async (name, input) => {
    const workspace = createTempWorkspace({ 'a.txt': 'first\n' });
    write(workspace.home, SETTINGS, settings({ PostToolUse: { modifiedOutput: 'replaced' } }));
    const turns = [{ tools: [{ name, input }] }, DONE];
    const [end] = toolEnds(await runScript(workspace, turns, STREAM));
    expect(end?.['output']).toMatchObject({ text: 'replaced' });
  });

  it.each([
    ['Execute', 'Bash', { command: 'echo made' }],
    ['Search', 'Grep', { pattern: 'first' }],
    ['ListFiles', 'list_files', { path: '.' }],
    ['^Execute$', 'Bash', { command: 'echo made' }],
    ['Read|ListFiles', 'Glob', { pattern: '*' }],
  ])('may name tools as %s in its matchers', async (matcher, name, input) => {
    const workspace = createTempWorkspace();
    const hooks = { PreToolUse: [{ matcher, hooks: [{ type: 'command', command: 'exit 2' }] }] };
    write(workspace.home, SETTINGS, JSON.stringify({ hooks }));
    const [end] = toolEnds(
      await runScript(workspace, [{ tools: [{ name, input }] }, DONE], STREAM),
    );
    expect(end).toMatchObject({ deniedBy: 'hook' });
    const listed = await runHookline(['hooks', 'list'], at(workspace));
    expect(listed.stdout + listed.stderr).not.toContain('no tool');
  });

  it('approve: true allows nothing by itself', async () => {
    const workspace = createTempWorkspace();
    write(workspace.home, SETTINGS, settings({ PreToolUse: { approve: true } }));
    const script = [bash('touch made'), DONE];
    const flags = ['go', '--output', 'stream-json'];
    const [end] = toolEnds(await runScript(workspace, script, flags));
    expect(end).toMatchObject({ deniedBy: 'nobody' });
  });

  it('counts for nothing but its hooks', async () => {
    const workspace = createTempWorkspace();
    const more = { env: { STAGE: 'theirs' }, permissions: { deny: ['Bash'] } };
    write(workspace.home, SETTINGS, settings({}, more));
    const [end] = toolEnds(await runScript(workspace, [bash('echo "<$STAGE>"'), DONE], STREAM));
    expect(end?.['output']).toMatchObject({ text: '<>' });
    const listed = await runHookline(['hooks', 'list'], at(workspace));
    expect(listed.stdout + listed.stderr).toContain('"permissions" is not read in this file');
  });

  it('is protected from the agent', async () => {
    const workspace = createTempWorkspace();
    const input = { file_path: SETTINGS, content: '{}' };
    const turns = [{ tools: [{ name: 'Write', input }] }, DONE];
    const [end] = toolEnds(await runScript(workspace, turns, STREAM));
    expect(end?.['deniedBy']).toBe('nobody');
    expect(existsSync(path.join(workspace.repo, SETTINGS))).toBe(false);
  });
});

describe('a Cline file hook that reads names that no Cline sends', () => {
  it.each([
    ['tool_name', 'input.tool_name === "Bash" && input.tool_input.command.includes("made")'],
    ['toolName', 'input.toolName === "Bash"'],
    ['tool', 'input.tool === "Bash"'],
  ])('guards with %s', async (_, condition) => {
    const workspace = createTempWorkspace();
    write(
      workspace.home,
      `${GLOBAL_HOOKS}/PreToolUse`,
      nodeHook(`const cancel = ${condition};
process.stdout.write(JSON.stringify({ cancel, errorMessage: cancel ? 'no' : '' }));`),
    );
    const [end] = toolEnds(await runScript(workspace, [bash('touch made'), DONE], STREAM));
    expect(end).toMatchObject({ deniedBy: 'hook' });
  });
});

describe('a hook of a plugin', () => {
  it('reads the directory of the session in context.cwd', async () => {
    const workspace: TempWorkspace = createTempWorkspace();
    const log = path.join(workspace.directory, 'log');
    const write1 = (hook: string): string =>
      `${hook}: (context) => { appendFileSync(${JSON.stringify(log)}, ${JSON.stringify(hook)} + ' ' + context.cwd + '\\n'); }`;
    const hooks = ['beforeRun', 'beforeModel', 'afterModel', 'beforeTool', 'afterTool', 'afterRun'];
    write(
      workspace.home,
      '.cline/plugins/place.js',
      `import { appendFileSync } from 'node:fs';
export default { name: 'place', manifest: { capabilities: ['hooks'] }, hooks: { ${hooks.map(write1).join(', ')} } };
`,
    );
    await runScript(workspace, [bash('echo hi'), DONE], ['go', ...BYPASS]);
    expect([...new Set(logOf(workspace))].toSorted()).toEqual(
      hooks.map((hook) => `${hook} ${workspace.repo}`).toSorted(),
    );
    expect(readFileSync(log, 'utf8')).not.toContain('undefined');
  });
});
