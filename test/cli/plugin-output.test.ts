import { describe, expect, it } from 'vitest';
import { jsonOf, runHookline } from './hookline.ts';
import { at, createTempWorkspace, write } from './temp-workspace.ts';

/** Writes wherever a plugin can write, also after its session has ended. */
const LOUD = `
import { setTimeout as later } from 'node:timers';
console.log('imported');
process.stdout.write('imported, raw\\n');
const say = () => { console.log('late'); process.stdout.write('late, raw\\n'); };
later(say, 60);
export default {
  name: 'loud',
  manifest: { capabilities: ['hooks'] },
  setup() { console.error('set up'); },
  hooks: { afterRun() { process.stdout.write('afterRun, raw\\n'); later(say, 60); } },
};
`;

function createWorkspaceWithPrintingPlugin() {
  const workspace = createTempWorkspace({ 'turns.json': '[{ "text": "Done." }]' });
  write(workspace.home, '.cline/plugins/loud.ts', LOUD);
  return workspace;
}

const WORDS = ['imported', 'imported, raw', 'late', 'late, raw'];

describe('the output of a plugin on stdout', () => {
  it.each(['json', 'stream-json'])('is no part of what run --output %s prints', async (form) => {
    const args = ['run', '--script', 'turns.json', '--output', form, 'hi'];
    const { code, stdout, stderr } = await runHookline(
      args,
      at(createWorkspaceWithPrintingPlugin()),
    );
    const documents = form === 'json' ? [stdout] : stdout.trimEnd().split('\n');
    expect(documents.map((text) => JSON.parse(text)).at(-1)).toMatchObject({ text: 'Done.' });
    expect(code).toBe(0);
    const texts = stderr.split('\n');
    expect(texts).toEqual(expect.arrayContaining([...WORDS, 'set up', 'afterRun, raw']));
  });

  it('is no part of the answer of run', async () => {
    const args = ['run', '--script', 'turns.json', 'hi'];
    expect((await runHookline(args, at(createWorkspaceWithPrintingPlugin()))).stdout).toBe(
      'Done.\n',
    );
  });

  it.each([['list'], ['validate', 'loud'], ['doctor']])(
    'is no part of what plugin %s prints',
    async (...words) => {
      const result = await runHookline(
        ['plugin', ...words, '--json'],
        at(createWorkspaceWithPrintingPlugin()),
      );
      expect(jsonOf(result)).toEqual(expect.any(Object));
      expect(result.stderr).toContain('imported, raw');
    },
  );
});
