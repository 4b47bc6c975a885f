import { describe, expect, it } from 'vitest';
import { isRecord, getTypeName } from '../../src/base/json.ts';
import { readForeignPayload } from '../../src/dialects/index.ts';
import { command, createFixtureOpener, hooks } from './claude-config/fixture.ts';
import { RECORDING } from './claude-config/recording.ts';

const PAYLOADS = Object.entries(RECORDING.events).flatMap(([event, recordings]) =>
  recordings.map(({ mode, stdin }, index) => ({ event, mode, stdin, number: index + 1 })),
);

/** Where a payload lacks a key of the recording, or has another type for it. */
function missing(recorded: unknown, sent: unknown, place: string): readonly string[] {
  if (getTypeName(recorded) !== getTypeName(sent)) {
    return [`${place}: ${getTypeName(recorded)} was recorded, ${getTypeName(sent)} was sent`];
  }
  if (Array.isArray(recorded) && Array.isArray(sent)) {
    return recorded.flatMap((each: unknown, index) =>
      missing(each, sent[index], `${place}[${index}]`),
    );
  }
  if (!isRecord(recorded) || !isRecord(sent)) return [];
  return Object.entries(recorded).flatMap(([key, value]) =>
    Object.hasOwn(sent, key)
      ? missing(value, sent[key], `${place}.${key}`)
      : [`${place}.${key}: recorded, but not sent`],
  );
}

describe('what a hook reads on stdin', () => {
  it.concurrent.for(PAYLOADS)(
    'at $event, recording $number ($mode), has every recorded key with its type',
    async ({ event, stdin }, { expect }) => {
      const undo: (() => Promise<void>)[] = [];
      try {
        const openFixture = createFixtureOpener((work) => undo.unshift(work));
        const { dispatch, payload, root } = await openFixture({
          project: hooks(event, [
            command('cat > "$CLAUDE_PROJECT_DIR/stdin.json"; echo /worktree'),
          ]),
        });
        const recorded = JSON.parse(
          JSON.stringify(stdin).replaceAll('/home/user/my-project', () => root),
        );
        const { outcomes } = await dispatch(readForeignPayload('claude', recorded));
        expect(outcomes.map(({ failure }) => failure)).toEqual([null]);
        const sentPayload = payload('stdin.json');
        expect(missing(recorded, sentPayload, 'payload')).toEqual([]);
        expect(sentPayload['hook_event_name']).toBe(event);
      } finally {
        for (const work of undo) await work();
      }
    },
  );

  it('was recorded for 32 of the 33 events', () => {
    expect(Object.keys(RECORDING.events).length).toBe(32);
  });
});
