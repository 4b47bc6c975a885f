import { expect, test } from 'vitest';
import { findToolMentions } from '../../../src/dialects/cline-files/tool-mentions.ts';

test('a text with a very long word, such as encoded data, is read all the same', () => {
  const own = `case $tool in *write*) exit 1;; esac\ndata=${'x'.repeat(1_000_000)}\n`;
  const { mayKnow } = findToolMentions({
    own,
    helpers: [],
    isPartial: false,
    readOthers: () => [],
  });
  expect([mayKnow('write_to_file'), mayKnow('list_files')]).toEqual([true, false]);
});
