import { describe, expect, it } from 'vitest';
import { runHookline } from './hookline.ts';
import { at, createTempWorkspace, write } from './temp-workspace.ts';

const GREETER = `
export default {
  name: 'greeter',
  manifest: { capabilities: ['commands'] },
  setup(api, { logger }) {
    logger.log('two commands');
    logger.error('nothing to greet yet');
    api.registerCommand({ name: '/Hello', handler: (input) => 'hello ' + input });
    api.registerCommand({ name: 'ask', handler: (input) => ({ reply: 'asking', submitPrompt: input }) });
  },
};
`;

function createWorkspaceWithGreeter() {
  const workspace = createTempWorkspace({ 'turns.json': '[{ "text": "Done." }]' });
  write(workspace.home, '.cline/plugins/greeter.mjs', GREETER);
  return at(workspace);
}

describe('a command of a plugin in hookline run', () => {
  it('needs no model where it answers itself', async () => {
    const { code, stdout } = await runHookline(
      ['run', '/hello  big   world'],
      createWorkspaceWithGreeter(),
    );
    expect([code, stdout]).toEqual([0, 'hello big world\n']);
  });

  it('names what the model needs when it calls it', async () => {
    const { code, stdout, stderr } = await runHookline(
      ['run', '/ask why'],
      createWorkspaceWithGreeter(),
    );
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/asking[^]*no API key found for Anthropic/);
  });

  it('is not just any word with a slash', async () => {
    const { code, stderr } = await runHookline(['run', '/hellooo'], createWorkspaceWithGreeter());
    expect(code).toBe(2);
    expect(stderr).toContain('no API key found for Anthropic');
  });
});

describe('what a plugin logs', () => {
  const args = ['run', '--script', 'turns.json', 'hi'];

  it('is printed when it is an error', async () => {
    const { stderr } = await runHookline(args, createWorkspaceWithGreeter());
    expect(stderr).toContain('plugin greeter: nothing to greet yet');
    expect(stderr).not.toContain('two commands');
  });

  it('is printed with --debug', async () => {
    const { stderr } = await runHookline(['--debug', ...args], createWorkspaceWithGreeter());
    expect(stderr).toContain('plugin greeter: two commands');
  });
});
