import fc from 'fast-check';
import { deserialize, serialize } from 'node:v8';
import { describe, expect, it } from 'vitest';
import {
  KnownLists,
  SentLists,
  type SentChange,
  applyChange,
  computeChange,
} from '../../../../src/plugins/isolation/wire/list-delta-cache.ts';

const message = fc.record({ id: fc.nat(5), content: fc.array(fc.string({ maxLength: 2 })) });

function sent(change: SentChange): SentChange {
  return deserialize(serialize(change));
}

describe('a list that is sent as a delta', () => {
  it('is the same on both sides, whatever it was before', () => {
    fc.assert(
      fc.property(fc.array(message), fc.array(message), (before, after) => {
        expect(applyChange(before, computeChange(before, after))).toEqual(after);
      }),
    );
  });

  it('is the same for every list and in every order, also when lists are forgotten', () => {
    const step = fc.record({ list: fc.nat(12).map(String), items: fc.array(message) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const here = new SentLists();
        const there = new KnownLists();
        for (const { list, items } of steps) {
          const rebuiltList = there.applyChange(sent(here.recordChange(list, items)));
          expect(rebuiltList.items.slice(0, rebuiltList.length)).toEqual(items);
        }
      }),
    );
  });

  it('sends of a growing list only what is new, and lists that were returned before stay as they were', () => {
    const here = new SentLists();
    const there = new KnownLists();
    const texts = [{ id: 1 }, { id: 2 }];
    const first = there.applyChange(sent(here.recordGrowth('said', texts)));
    texts.push({ id: 3 });
    const change = here.recordGrowth('said', texts);
    expect(change).toMatchObject({ start: 2, end: 0, between: { value: [{ id: 3 }] } });
    const second = there.applyChange(sent(change));
    expect(first.items.slice(0, first.length)).toEqual([{ id: 1 }, { id: 2 }]);
    expect(second.items.slice(0, second.length)).toEqual(texts);
  });

  it('begins again with another list, and when something was not sent', () => {
    const here = new SentLists();
    const there = new KnownLists();
    there.applyChange(sent(here.recordGrowth('said', [{ id: 1 }, { id: 2 }])));
    const summary = [{ id: 9 }];
    expect(there.applyChange(sent(here.recordGrowth('said', summary))).items).toEqual(summary);
    here.recordGrowth('said', summary);
    here.clear();
    expect(there.applyChange(sent(here.recordGrowth('said', summary))).items).toEqual(summary);
  });
});
