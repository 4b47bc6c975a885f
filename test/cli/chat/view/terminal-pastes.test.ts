import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PasteDetector } from '../../../../src/cli/chat/view/terminal.ts';

const BEGINS = '\u001B[200~';
const ENDS = '\u001B[201~';

/** The events that are emitted when the data comes in pieces that end at these positions. */
function collectEvents(data: string, cuts: readonly number[]): readonly string[] {
  const events: string[] = [];
  const pastes = new PasteDetector(
    (keys) => void events.push(`keys ${keys}`),
    (text) => void events.push(`paste ${text.slice(BEGINS.length, -ENDS.length)}`),
  );
  const offsets = [0, ...cuts.toSorted((one, other) => one - other), data.length];
  for (const [at, index] of offsets.entries()) pastes.take(data.slice(offsets[at - 1] ?? 0, index));
  return events.filter((event) => event !== 'keys ');
}

it('separates pasted text from the keys before and after it', () => {
  const data = `ab${BEGINS}one\n${'x'.repeat(100)}${ENDS}cd${BEGINS}two${ENDS}`;
  expect(collectEvents(data, [])).toEqual([
    'keys ab',
    `paste one\n${'x'.repeat(100)}`,
    'keys cd',
    'paste two',
  ]);
});

it('finds the end of a paste wherever the pieces are cut', () => {
  const data = `${BEGINS}some text [201~ that is long${ENDS}x`;
  const afterBegin = fc.integer({ min: BEGINS.length, max: data.length });
  fc.assert(
    fc.property(fc.array(afterBegin, { maxLength: 20 }), (cuts) => {
      expect(collectEvents(data, cuts)).toEqual(['paste some text [201~ that is long', 'keys x']);
    }),
  );
});
