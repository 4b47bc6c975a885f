import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RuntimeEvent } from '../../src/agent/runtime-event.ts';
import { DeltaBuffer } from '../../src/host/redact-stream.ts';
import { SECRETS_IN_CONTEXT, TOKENS_BY_SERVICE } from './secrets/samples.ts';
import { redactObject } from '../../src/host/redact-object.ts';

const TOKEN = `ghp_${'a1B2'.repeat(9)}`;
const BEARER = 'k3yOfSomeServiceThatNobodyKnows';
const KEY_LINE = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC';
const KEY = `-----BEGIN RSA PRIVATE KEY-----\n${KEY_LINE}\n${KEY_LINE}\n-----END RSA PRIVATE KEY-----`;
const WHO = { sessionId: 's', agentId: 's', parentAgentId: null };

function text(written: string): RuntimeEvent {
  return { ...WHO, type: 'text-delta', text: written };
}

function thinking(written: string): RuntimeEvent {
  return { ...WHO, type: 'thinking-delta', text: written };
}

function input(written: string, callId = 'c'): RuntimeEvent {
  return { ...WHO, type: 'input-delta', callId, tool: 'Bash', text: written };
}

const END: RuntimeEvent = { ...WHO, type: 'session-end', reason: 'other' };
const NOTICE: RuntimeEvent = { ...WHO, type: 'notice', level: 'info', text: 'meanwhile' };

function bufferDeltas(...events: readonly RuntimeEvent[]): readonly RuntimeEvent[] {
  const buffer = new DeltaBuffer();
  return [...events.flatMap((event) => buffer.take(event)), ...buffer.flush()];
}

async function redactText(events: readonly RuntimeEvent[]): Promise<string> {
  const clean = await Promise.all(bufferDeltas(...events).map((event) => redactObject(event, {})));
  return clean.map((event) => ('text' in event ? event.text : '')).join('');
}

describe('what a model writes in pieces', () => {
  it('is emitted when the next word begins, and the rest at the end', () => {
    expect(bufferDeltas(text('I lo'), text('ok at '), text('it'), text('.'), END)).toEqual([
      text('I '),
      text('look '),
      text('at '),
      text('it.'),
      END,
    ]);
  });

  it('stays together while something else happens', () => {
    expect(bufferDeltas(text('gh'), NOTICE, text('p'))).toEqual([NOTICE, text('ghp')]);
  });

  it('is emitted in order when it goes on with another kind', () => {
    expect(bufferDeltas(thinking('Hm.'), text('So'), input('{"a"'), input(':1}'))).toEqual([
      thinking('Hm.'),
      text('So'),
      input('{"a":1}'),
    ]);
  });

  it('is kept apart by call and by agent', () => {
    const other: RuntimeEvent = { ...WHO, agentId: 'other', type: 'text-delta', text: 'x' };
    expect(bufferDeltas(input('1', 'a'), input('2', 'b'), other, input('3', 'a'))).toEqual([
      input('2', 'b'),
      other,
      input('13', 'a'),
    ]);
  });

  it('is not buffered without end', () => {
    const buffer = new DeltaBuffer();
    const pieces = Array.from({ length: 100 }, () => buffer.take(text('x'.repeat(1000))));
    expect(pieces.flat().length).toBeGreaterThan(1);
  });

  it('keeps every character, however it is cut', () => {
    const piece = fc.constantFrom(
      'a',
      ' ',
      '\n',
      '=',
      ':',
      'Bearer',
      '-----BEGIN',
      '-----END K-----',
      '\\n',
      '"',
    );
    fc.assert(
      fc.property(fc.array(piece), fc.constantFrom(text, input), (pieces, make) => {
        const events = bufferDeltas(...pieces.map((each) => make(each)));
        expect(events.map((event) => ('text' in event ? event.text : '')).join('')).toBe(
          pieces.join(''),
        );
      }),
    );
  });
});

describe('a secret', () => {
  it.each([
    ['a token', `Take ${TOKEN} now, please`, TOKEN],
    ['a bearer', `Authorization: Bearer  ${BEARER} and so on`, BEARER],
    ['a key', `Here:\n${KEY}\nThat is it.`, KEY_LINE],
  ])('is redacted when it arrives in pieces: %s', async (_what, written, secret) => {
    for (const size of [1, 3, 7]) {
      const pieces = written.match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? [];
      const json = JSON.stringify({ content: `a\n${written}` });
      const inJson = json.match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? [];
      for (const events of [
        pieces.map((each) => text(each)),
        pieces.map((each) => thinking(each)),
        inJson.map((each) => input(each)),
      ]) {
        const redactedText = await redactText(events);
        expect(redactedText).not.toContain(secret);
        expect(redactedText).toContain('[redacted]');
      }
    }
  });

  it('right behind a line end in JSON is redacted', async () => {
    const json = JSON.stringify({ content: `a\n${TOKEN}\nb` });
    expect(await redactText(json.split('').map((each) => input(each)))).toBe(
      String.raw`{"content":"a\n[redacted]\nb"}`,
    );
  });
});

const TOKEN_SAMPLES = Object.values(TOKENS_BY_SERVICE).map(
  (pieces) => ['Take ', pieces.join(''), ' now'] as const,
);

describe('every secret that is found in a whole text', () => {
  // A key without its beginning is known only by its end.
  it.each([...SECRETS_IN_CONTEXT.slice(0, -1), ...TOKEN_SAMPLES])(
    'is found in pieces: %s…',
    async (before, secret, after) => {
      const written = `Look here: ${before}${secret}${after}\nand on`;
      for (const size of [1, 5, 16]) {
        const pieces = written.match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? [];
        expect(await redactText(pieces.map((each) => text(each)))).not.toContain(secret);
      }
      const json = JSON.stringify({ content: `a\n${written}` });
      const secretInJson = JSON.stringify(secret).slice(1, -1);
      const inJson = json.match(/[^]{1,3}/gu) ?? [];
      expect(await redactText(inJson.map((each) => input(each)))).not.toContain(secretInJson);
    },
  );

  it('is not cut where the buffer is full', async () => {
    const secret = ['gh', 'p_', 'aB3d'.repeat(9)].join('');
    for (const length of [12_200, 12_270, 12_288, 16_350, 16_384]) {
      const written = `${'word,'.repeat(length / 5)},${secret},${'word,'.repeat(2000)}`;
      const pieces = written.match(/[^]{1,500}/gu) ?? [];
      expect(await redactText(pieces.map((each) => text(each)))).not.toContain(secret.slice(0, 20));
    }
  });
});
