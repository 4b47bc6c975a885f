import { describe, expect, it } from 'vitest';
import { jsonOf, runHookline } from './hookline.ts';
import { at, createTempWorkspace, write } from './temp-workspace.ts';

const GOOD = `
export default {
  name: 'good',
  manifest: { capabilities: ['tools'] },
  setup(api) {
    api.registerTool({
      name: 'wait',
      description: 'Waits.',
      inputSchema: { type: 'object', properties: {} },
      execute: () => new Promise((done) => setTimeout(done, 200, 'waited')),
    });
  },
};
`;

/** Ends the process at one moment of its life. */
const EXITS: Readonly<Record<string, string>> = {
  import: `process.exit(7); export default { name: 'quitter', manifest: { capabilities: ['tools'] } };`,
  setup: plugin(`setup() { process.exit(7); }`),
  timer: plugin(`setup() { setTimeout(() => process.exit(7), 20); }`),
  hook: plugin(`hooks: { async beforeTool() { await null; process.exit(7); } }`),
  event: plugin(`hooks: { onEvent() { process.exit(7); } }`),
  tool: plugin(`setup(api) {
    api.registerTool({
      name: 'quit',
      description: 'Quits.',
      inputSchema: { type: 'object', properties: {} },
      execute() { process.exit(7); },
    });
  }`),
};

function plugin(rest: string): string {
  return `export default { name: 'quitter', manifest: { capabilities: ['tools', 'hooks'] }, ${rest} };`;
}

const TURNS = JSON.stringify([
  { tools: [{ name: 'quit', input: {} }] },
  { tools: [{ name: 'wait', input: {} }] },
  { text: 'Done.' },
]);

function createWorkspaceWith(moment: string) {
  const workspace = createTempWorkspace({ 'turns.json': TURNS });
  write(workspace.home, '.cline/plugins/good.ts', GOOD);
  write(workspace.home, '.cline/plugins/quitter.ts', EXITS[moment] ?? '');
  return workspace;
}

const ALLOW = ['--permission-mode', 'bypassPermissions'];

describe('process.exit in a plugin that lives in the agent’s process', () => {
  it.each(Object.keys(EXITS))('ends that plugin only: %s', async (moment) => {
    const args = ['run', '--script', 'turns.json', ...ALLOW, '--output', 'stream-json', 'hi'];
    const { code, stdout, stderr } = await runHookline(args, at(createWorkspaceWith(moment)));
    expect({ code, answer: JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') }).toMatchObject({
      code: 0,
      answer: { text: 'Done.' },
    });
    expect(`${stdout}${stderr}`).toContain('process.exit(7)');
    const isLeftOut = stderr.includes('so nothing of it is used') || stderr.includes('not loaded');
    expect(isLeftOut).toBe(moment === 'import' || moment === 'setup');
  });

  it.each(['import', 'setup'])('is reported by plugin list: %s', async (moment) => {
    const listed = jsonOf(
      await runHookline(['plugin', 'list', '--json'], at(createWorkspaceWith(moment))),
    );
    expect(listed).toMatchObject({
      plugins: [
        { name: 'good', state: 'ready' },
        { name: 'quitter', state: 'failed', why: expect.stringContaining('process.exit(7)') },
      ],
    });
  });

  it('is left to a demo, which its author ends as he likes', async () => {
    const workspace = createTempWorkspace();
    write(
      workspace.home,
      '.cline/plugins/demo.ts',
      `${plugin('')} export const runDemo = () => process.exit(7);`,
    );
    const { code } = await runHookline(['plugin', 'demo', 'demo'], at(workspace));
    expect(code).toBe(7);
  });
});
