import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { widenUntilUnique } from '../../../../src/agent/tools/edits/locate-text.ts';
import { TOOLS } from '../../../../src/agent/tools/index.ts';
import { prepareToolCall } from '../../../../src/agent/tools/prepare-tool-call.ts';
import { applyHunks, parsePatch } from '../../../../src/tool-vocabularies/patch.ts';
import { write } from '../../../base/directory.ts';
import { createToolFixture } from '../fixture.ts';

// Few different lines, so that most stand in a text several times.
const lines = fc.array(fc.constantFrom('', 'a', 'b', '  a', '}'), { minLength: 1, maxLength: 12 });

test('a widened text occurs only once, and contains the original', () => {
  fc.assert(
    fc.property(lines, fc.nat(40), fc.nat(40), (inputs, one, other) => {
      const text = inputs.join('\n');
      const [start, end] = [one, other]
        .map((at) => at % (text.length + 1))
        .toSorted((x, y) => x - y);
      fc.pre(start !== undefined && end !== undefined && text !== '');
      const wide = widenUntilUnique(text, { start, end });
      const found = text.slice(wide.start, wide.end);
      expect(wide.start <= start && wide.end >= end).toBe(true);
      expect([text.indexOf(found), text.lastIndexOf(found)]).toEqual([wide.start, wide.start]);
    }),
  );
});

test('a patch does to a file what hooks received as its parts', async () => {
  const { toolContext, start } = createToolFixture();
  const file = path.join(start, 'a.txt');
  await fc.assert(
    fc.asyncProperty(lines, fc.nat(12), fc.nat(3), lines, async (inputs, at, count, added) => {
      const before = `${inputs.join('\n')}\n`;
      const first = at % inputs.length;
      const old = inputs.slice(first, first + count + 1);
      const hunk = [...old.map((line) => `-${line}`), ...added.map((line) => `+${line}`)];
      const input = [
        '*** Begin Patch',
        '*** Update File: a.txt',
        '@@',
        ...hunk,
        '*** End Patch',
      ].join('\n');
      const after = applyHunks(before, parsePatch(input)[0]?.hunks ?? []);
      fc.pre(after !== before);
      write(file, before);
      toolContext.readFiles.markRead(file, Buffer.from(before));
      const call = prepareToolCall(
        { name: 'apply_patch', input: { input } },
        { context: toolContext, tools: TOOLS },
      );
      if (typeof call === 'string') return expect(call).toBe('');
      const { signal } = new AbortController();
      await call.run({ callId: 'c', signal, onProgress: () => {} });
      expect(readFileSync(file, 'utf8')).toBe(after);
    }),
    { numRuns: 200 },
  );
});
