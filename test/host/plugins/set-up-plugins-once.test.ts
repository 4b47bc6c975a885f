import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHookline } from '../../cli/hookline.ts';
import { at, createTempWorkspace, write } from '../../cli/temp-workspace.ts';

// A plugin that brings a provider is made for that provider only. Beside it, every other plugin was set up
// twice: the model's name is known only once the session is open.

function counting(name: string, targets = ''): string {
  return `
export default {
  name: '${name}',
  manifest: { capabilities: ['hooks'], ${targets} },
  setup() { console.log('${name} is set up'); },
  hooks: {},
};
`;
}

async function run(files: Readonly<Record<string, string>>) {
  const workspace = createTempWorkspace();
  for (const [name, text] of Object.entries(files)) {
    write(workspace.home, `.cline/plugins/${name}`, text);
  }
  const script = path.join(workspace.directory, 'turns.json');
  writeFileSync(script, JSON.stringify([{ text: 'done' }]));
  const { code, stderr } = await runHookline(['run', '--script', script, 'go'], at(workspace));
  return { code, told: stderr.split('\n').filter((line) => line.trim() !== '') };
}

describe('plugins beside one that is made for another model', () => {
  it('are set up once', async () => {
    const files = {
      'plain.ts': counting('plain'),
      'other.ts': counting('other', `providerIds: ['somewhere-else']`),
      'mine.ts': counting('mine', `providerIds: ['scripted']`),
    };
    expect(await run(files)).toEqual({
      code: 0,
      told: ['mine is set up', 'plain is set up'],
    });
  });

  it('are set up again, without a message, when one matches after all', async () => {
    const files = {
      'plain.ts': counting('plain'),
      'exact.ts': counting('exact', `modelIds: ['scripted']`),
    };
    expect(await run(files)).toEqual({
      code: 0,
      told: ['plain is set up', 'exact is set up', 'plain is set up'],
    });
  });
});
