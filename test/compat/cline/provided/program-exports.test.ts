import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createProgramWorkspace, runProgram } from '../sdk-program.ts';
import { answering, HOOKS, write } from '../../../cli/temp-workspace.ts';
import { runHookline } from '../../../cli/hookline.ts';

const MODEL = `
const createModel = (...answers) => {
  const requests = [];
  return { requests, async *stream(request) { requests.push(request); yield* answers[requests.length - 1]; } };
};
const call = (toolName, input) => ({ type: 'tool-call-delta', toolCallId: toolName, toolName, input });
const CALLS = { type: 'finish', reason: 'tool-calls' };
const SAID = [{ type: 'text-delta', text: 'ok' }, { type: 'finish', reason: 'stop' }];
`;

describe('what programs import from @cline/core', () => {
  it('keeps the settings of providers, for the user only', async () => {
    const { reports, workspace } = await runProgram(
      `import { ProviderSettingsManager } from 'hookline';
      const manager = new ProviderSettingsManager();
      report(manager.getLastUsedProviderSettings() ?? null);
      manager.saveProviderSettings({ provider: 'anthropic', model: 'm', apiKey: 'k' });
      manager.saveProviderSettings({ provider: 'groq', model: 'g' }, { setLastUsed: false });
      report(manager.getLastUsedProviderConfig());
      report(new ProviderSettingsManager().getProviderSettings('groq'));
      report(manager.getFilePath());
      try { manager.saveProviderSettings({}); } catch ({ message }) { report(message); }`,
      [],
    );
    const file = path.join(workspace.home, '.cline/data/settings/providers.json');
    expect(reports).toEqual([
      null,
      { providerId: 'anthropic', modelId: 'm', apiKey: 'k' },
      { provider: 'groq', model: 'g' },
      file,
      'expected settings to be an object with "provider", found object',
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('joins hooks, which see what those before them changed', async () => {
    const { reports } = await runProgram(
      `import { mergeAgentHooks } from 'hookline';
      const { beforeTool, afterRun } = mergeAgentHooks([
        { beforeTool: () => ({ input: { a: 1 }, appendContext: 'one' }), afterRun: () => report('first') },
        undefined,
        { beforeTool: ({ input }) => ({ input: { ...input, b: 2 }, appendContext: 'two' }), afterRun: () => report('second') },
        { beforeTool: () => ({ skip: true, reason: 'no' }) },
        { beforeTool: () => report('never') },
      ]);
      report(await beforeTool({ input: {} }));
      await afterRun({});
      report(mergeAgentHooks([undefined]) ?? null);`,
      [],
    );
    expect(reports).toEqual([
      { input: { a: 1, b: 2 }, appendContext: 'one\n\ntwo', skip: true, reason: 'no' },
      'first',
      'second',
      null,
    ]);
  });

  it('runs trusted file hooks for an agent without a session, and once in a session', async () => {
    const workspace = createProgramWorkspace();
    const denying = answering({ cancel: true, errorMessage: 'not here' });
    write(
      workspace.repo,
      `${HOOKS}/PreToolUse`,
      denying.replace('cat > /dev/null', 'cat > /dev/null; echo ran >> ran.txt'),
    );
    await runHookline(['trust', '--yes'], { cwd: workspace.repo, home: workspace.home });
    const { reports, service } = await runProgram(
      `import { readFileSync } from 'node:fs';
      import { Agent, ClineCore, createHookConfigFileHooks, mergeAgentHooks } from 'hookline';
      ${MODEL}
      const hooks = createHookConfigFileHooks({ cwd: process.cwd(), workspacePath: process.cwd() });
      const model = createModel([call('go', {}), CALLS], SAID);
      const tool = { name: 'go', description: '', inputSchema: { type: 'object' }, execute: () => report('ran') };
      const { messages } = await new Agent({ model, hooks, tools: [tool] }).run('go');
      report(messages.at(-2).content[0].output);
      const core = await ClineCore.create({ backendMode: 'local' });
      await core.start({ config: config({ hooks: mergeAgentHooks([hooks, {}]) }), prompt: 'go' });
      await core.dispose();
      report(readFileSync('ran.txt', 'utf8'));
      process.exit();`,
      [{ tools: [{ name: 'run_commands', input: { commands: ['true'] } }] }, { text: 'ok' }],
      { workspace },
    );
    expect(reports).toEqual([{ error: 'not here' }, 'ran\nran\n']);
    expect(JSON.stringify(service.requests()[1]?.messages)).toContain('not here');
  });

  it('makes tools that understand what models write instead of a list', async () => {
    const { reports } = await runProgram(
      `import { createDefaultTools } from 'hookline';
      const paths = [], commands = [];
      const [read, run] = createDefaultTools({
        cwd: '/w',
        executors: {
          readFile: async (request) => void paths.push(request),
          bash: async (command) => void commands.push(command),
        },
      });
      for (const input of ['/a', ['/b'], { path: '/c', start_line: 2 }, { file_path: '/d' }, { filePath: '/e' },
        { paths: ['/f'] }, { file_paths: '/g' }, { files: ['/h', { path: '/i' }] }]) await read.execute(input, {});
      for (const input of ['a', ['b'], { command: 'c' }, { cmd: 'd' }, { commands: 'e' },
        { commands: [{ command: 'f', args: ['-g'] }, 'h'] }]) await run.execute(input, {});
      report(paths);
      report(commands);
      process.exit();`,
      [],
    );
    expect(reports).toEqual([
      [
        { path: '/a' },
        { path: '/b' },
        { path: '/c', start_line: 2 },
        ...['/d', '/e', '/f', '/g', '/h', '/i'].map((file) => ({ path: file })),
      ],
      ['a', 'b', 'c', 'd', 'e', 'f -g', 'h'],
    ]);
  });

  it('closes the host of file hooks with the last run that uses them', async () => {
    const workspace = createProgramWorkspace();
    write(workspace.repo, `${HOOKS}/PreToolUse`, answering({ cancel: true, errorMessage: 'no' }));
    await runHookline(['trust', '--yes'], { cwd: workspace.repo, home: workspace.home });
    const { reports } = await runProgram(
      `import { readdirSync } from 'node:fs';
      import path from 'node:path';
      import { setTimeout } from 'node:timers/promises';
      import { Agent, createHookConfigFileHooks } from 'hookline';
      ${MODEL}
      const claims = path.join(process.env.HOME, '.hookline', 'claims');
      const countClaims = () => readdirSync(claims).filter((name) => name.startsWith('claim-')).length;
      const untilClosed = async () => { while (countClaims() > 0) await setTimeout(20); return 'closed'; };
      const hooks = createHookConfigFileHooks({ cwd: process.cwd(), workspacePath: process.cwd() });
      const open = [];
      const tool = { name: 'go', description: '', inputSchema: { type: 'object' }, execute: () => 'ran' };
      const watching = { ...hooks, afterTool: async (context) => { open.push(countClaims()); return hooks.afterTool(context); } };
      const run = async () => {
        const model = createModel([call('go', {}), CALLS], SAID);
        const { messages } = await new Agent({ model, hooks: watching, tools: [tool] }).run('go');
        return messages.at(-2).content[0].output;
      };
      report(await run());
      report(await untilClosed());
      report(await Promise.all([run(), run()]));
      report(await untilClosed());
      report(await hooks.beforeTool({ toolCall: { toolCallId: '1', toolName: 'Bash' }, input: {} }));
      report(await untilClosed());
      report(open);`,
      [],
      { workspace },
    );
    expect(reports).toEqual([
      { error: 'no' },
      'closed',
      [{ error: 'no' }, { error: 'no' }],
      'closed',
      { skip: true, reason: 'no' },
      'closed',
      // Open during a run, and once for both runs that share it.
      [1, 1, 1],
    ]);
  });

  it('saves no settings of providers over a file with a slip in it', async () => {
    const workspace = createProgramWorkspace();
    const file = write(workspace.home, '.cline/data/settings/providers.json', '{"version: 1}');
    const { reports } = await runProgram(
      `import { ProviderSettingsManager } from 'hookline';
      try { new ProviderSettingsManager().saveProviderSettings({ provider: 'groq' }); }
      catch ({ code, message, hint }) { report({ code, message, hint }); }`,
      [],
      { workspace },
    );
    expect(reports).toEqual([
      {
        code: 'CONFIG_INVALID',
        message: `${file} is not valid JSON: line 1, column 14: missing quote after version`,
        hint: 'Fix it, or delete it; nothing was saved.',
      },
    ]);
    expect(readFileSync(file, 'utf8')).toBe('{"version: 1}');
  });

  it('makes tools of a program’s own executors, and one that starts another agent', async () => {
    const { reports } = await runProgram(
      `import { Agent, createDefaultTools, createSpawnAgentTool } from 'hookline';
      ${MODEL}
      const tools = createDefaultTools({
        cwd: '/w',
        executors: {
          readFile: async ({ path }) => 'text of ' + path,
          bash: async (command, cwd) => { if (command === 'bad') throw new Error('no'); return command + ' in ' + cwd; },
          search: async () => '',
        },
        enableSearch: false,
      });
      const inner = createModel([call('read_files', { files: [{ path: 'x' }] }), CALLS], SAID);
      const spawn = createSpawnAgentTool({ configProvider: { getRuntimeConfig: () => ({ model: inner }) }, subAgentTools: tools });
      const model = createModel(
        [call('run_commands', { commands: ['ls', 'bad'] }), call('spawn_agent', { systemPrompt: 'SUB', task: 'look' }), CALLS],
        SAID,
      );
      const { messages } = await new Agent({ model, tools: [...tools, spawn] }).run('go');
      report(tools.map(({ name }) => name));
      report(messages.filter(({ role }) => role === 'tool').map(({ content: [{ output }] }) => output));
      report(inner.requests.map(({ systemPrompt, messages }) => [systemPrompt, messages.at(-1).content]));
      process.exit();`,
      [],
    );
    expect(reports).toEqual([
      ['read_files', 'run_commands'],
      [
        [
          { query: 'ls', result: 'ls in /w', success: true },
          { query: 'bad', result: '', error: 'no', success: false },
        ],
        { text: 'ok', iterations: 2, finishReason: 'completed', usage: expect.any(Object) },
      ],
      [
        ['SUB', [{ type: 'text', text: 'look' }]],
        [
          'SUB',
          [
            expect.objectContaining({
              output: [{ query: 'x', result: 'text of x', success: true }],
            }),
          ],
        ],
      ],
    ]);
  });

  it('knows Cline’s places, a system prompt, skills of plugins, and sessions that are lost', async () => {
    const workspace = createProgramWorkspace();
    write(
      workspace.directory,
      'pack/package.json',
      '{ "name": "pack", "cline": { "plugins": [{ "paths": ["./index.ts"] }] } }',
    );
    write(
      workspace.directory,
      'pack/index.ts',
      `export default { name: 'p', manifest: { capabilities: ['skills'] } };`,
    );
    write(workspace.directory, 'pack/skills/one/SKILL.md', '---\nname: one\ndescription: d\n---\n');
    const { reports } = await runProgram(
      `import * as hookline from 'hookline';
      report([hookline.resolveSessionDataDir(), hookline.resolveHooksConfigSearchPaths('/w'), hookline.resolveDocumentsExtensionPath('Hooks')]);
      const prompt = hookline.getClineDefaultSystemPrompt({ workspaceRoot: '/w', ide: 'Terminal', rules: 'RULES' });
      report([prompt.includes('/w'), prompt.includes('Terminal'), prompt.endsWith('RULES'), hookline.getClineDefaultSystemPrompt({ overridePrompt: 'MINE' })]);
      report(hookline.resolvePluginSkillDirectoriesFromPaths(['../pack', '../none']));
      const core = await hookline.ClineCore.create({ backendMode: 'local' });
      const error = await core.send({ sessionId: 'none', prompt: 'x' }).catch((each) => each);
      report([hookline.isUnusableSessionError(error), hookline.isUnusableSessionError(new Error('other'))]);
      await core.dispose();`,
      [],
      { workspace },
    );
    const { home } = workspace;
    expect(reports).toEqual([
      [
        `${home}/.cline/data/sessions`,
        [
          `${home}/Documents/Cline/Hooks`,
          `${home}/.cline/hooks`,
          '/w/.clinerules/hooks',
          '/w/.cline/hooks',
        ],
        `${home}/Documents/Cline/Hooks`,
      ],
      [true, true, true, 'MINE'],
      [path.join(workspace.directory, 'pack/skills')],
      [true, false],
    ]);
  });

  it('gives plugins the same modules under the scope @clinebot', async () => {
    const workspace = createProgramWorkspace();
    write(
      workspace.directory,
      'old.ts',
      `import { createTool } from '@clinebot/core';
      import { resolveClineDir } from '@clinebot/shared/storage';
      export default { name: 'old-' + typeof createTool + '-' + typeof resolveClineDir, manifest: { capabilities: ['tools'] } };`,
    );
    const { reports } = await runProgram(
      `import { loadAgentPluginFromPath } from 'hookline';
      report((await loadAgentPluginFromPath('../old.ts')).name);`,
      [],
      { workspace },
    );
    expect(reports).toEqual(['old-function-function']);
  });
});
