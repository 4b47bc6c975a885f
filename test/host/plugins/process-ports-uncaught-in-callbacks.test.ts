import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHookline } from '../../cli/hookline.ts';
import { at, createTempWorkspace, write } from '../../cli/temp-workspace.ts';

// The commonest mistake of public plugins: a child process, or a connection, without a listener for its
// errors. Such an error has a stack of Node.js's own files only.

const PLUGIN = `
import { spawn } from 'node:child_process';
import net from 'node:net';
const where = process.env.WHERE;
const begin = () => void spawn('/no/such/program', ['--event', 'x']).stdin?.end('{}');
if (where === 'import') begin();
export default {
  name: 'reporter',
  manifest: { capabilities: ['hooks', 'tools', 'commands', 'rules', 'messageBuilders'] },
  setup(api: import('@cline/core').AgentExtensionApi) {
    if (where === 'setup') begin();
    const tool = { description: '', inputSchema: { type: 'object' } };
    api.registerTool({ ...tool, name: 'report', execute: () => { begin(); return 'done'; } });
    api.registerTool({ ...tool, name: 'grumble', execute: () => void Promise.reject('no "reason"') });
    api.registerTool({ ...tool, name: 'dial', execute: () => void net.connect(1, '127.0.0.1') });
    api.registerCommand({ name: 'report', handler: () => { begin(); return { submitPrompt: 'go' }; } });
    api.registerRule({ id: 'r', content() { if (where === 'rule') begin(); return ''; } });
    api.registerMessageBuilder({ name: 'b', build(m: unknown) { if (where === 'builder') begin(); return m; } });
  },
  hooks: {
    async beforeRun() {
      await null;
      if (where === 'beforeRun') begin();
    },
    onEvent({ type }: { type: string }) {
      if (where === 'onEvent' && type === 'turn-started') begin();
    },
  },
};
`;

/** A run with a command in it, so that what goes wrong beside it does so before its end. */
async function run(where: string, prompt = 'go', tool = 'Bash') {
  const workspace = createTempWorkspace();
  write(workspace.home, '.cline/plugins/reporter.ts', PLUGIN);
  const script = path.join(workspace.directory, 'turns.json');
  const wait = { name: 'Bash', input: { command: 'sleep 0.3' } };
  const first = tool === 'Bash' ? wait : { name: tool, input: {} };
  writeFileSync(
    script,
    JSON.stringify([{ tools: [first] }, { tools: [wait] }, { text: 'the end' }]),
  );
  const args = ['run', '--script', script, '--permission-mode', 'bypassPermissions', prompt];
  return runHookline(args, at(workspace, { env: { WHERE: where } }));
}

describe('an error of something that a plugin began, and that has no listener', () => {
  it.each([
    ['import', 'go', 'Bash'],
    ['setup', 'go', 'Bash'],
    ['beforeRun', 'go', 'Bash'],
    ['rule', 'go', 'Bash'],
    ['builder', 'go', 'Bash'],
    ['onEvent', 'go', 'Bash'],
    ['a tool', 'go', 'report'],
    ['a command', '/report', 'Bash'],
  ])('is reported as the plugin’s own, and survived: of %s', async (where, prompt, tool) => {
    const { code, stdout, stderr } = await run(where, prompt, tool);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'the end\n' });
    expect(stderr).toContain(
      'plugin reporter: an error that nothing caught: spawn /no/such/program ENOENT',
    );
  });

  it('is handled in the same way for a connection', async () => {
    const { code, stderr } = await run('', 'go', 'dial');
    expect(code).toBe(0);
    expect(stderr).toMatch(/plugin reporter: an error that nothing caught: .*ECONNREFUSED/);
  });

  it('names the rejected value, also when that is no error', async () => {
    const { code, stderr } = await run('nowhere', 'go', 'grumble');
    expect(code).toBe(0);
    expect(stderr).toContain('plugin reporter: an error that nothing caught: no "reason"\n');
  });
});
