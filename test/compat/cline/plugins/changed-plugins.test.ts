import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createDiskFixture } from '../disk-fixture.ts';
import { answers, call, DONE } from '../sdk-fixture.ts';

const PLUGINS = '.cline/plugins';

test('a file that a plugin imports from a directory below it is a part of it', async () => {
  const fixture = await createDiskFixture([call('mine'), DONE, call('mine'), DONE], {});
  const own = path.join(fixture.home, PLUGINS);
  const say = (word: string): void =>
    writeFileSync(path.join(own, 'lib/word.mjs'), `export const word = '${word}';`);
  mkdirSync(path.join(own, 'lib'), { recursive: true });
  writeFileSync(
    path.join(own, 'mine.mjs'),
    `import { word } from './lib/word.mjs';
export default { name: 'mine', manifest: { capabilities: ['tools'] }, setup: (api) =>
  api.registerTool({ name: 'mine', description: '', inputSchema: {}, execute: () => word }) };`,
  );
  say('first');
  const { sessionId } = await fixture.start({}, { interactive: true });
  expect(answers(fixture)).toEqual(['first']);
  say('second, and longer');
  await fixture.core.send({ sessionId, prompt: 'again' });
  expect(answers(fixture).at(-1)).toBe('second, and longer');
});
