import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CLAUDE_EVENT_NAMES } from '../../../../src/dialects/claude/events.ts';
import { decodeOutput } from '../../../../src/dialects/claude/output/decide.ts';
import { SPECIFIC_FIELDS } from '../../../../src/dialects/claude/output/schema.ts';
import { decodeLate, parseAsyncLine } from '../../../../src/dialects/claude/output/late-answer.ts';
import { parseOutput } from '../../../../src/dialects/claude/output/parse.ts';
import { findAnswerProblem } from '../../../../src/hooks/check-answer.ts';
import { request, specific } from './outputs.ts';

const events = fc.constantFrom(...CLAUDE_EVENT_NAMES);
const exits = fc.constantFrom(0, 1, 2, 127, 255, null);
const bytes = fc.uint8Array().map((data) => Buffer.from(data).toString('utf8'));
const specifics = fc.dictionary(fc.constantFrom(...SPECIFIC_FIELDS), fc.jsonValue());
const answers = events.chain((event) =>
  fc.record({
    event: fc.constant(event),
    out: fc
      .record(
        {
          continue: fc.oneof(fc.boolean(), fc.jsonValue()),
          stopReason: fc.string(),
          systemMessage: fc.string(),
          decision: fc.constantFrom('approve', 'block', 'deny', null),
          reason: fc.string(),
        },
        { requiredKeys: [] },
      )
      .chain((top) => specifics.map((inside) => ({ ...top, ...specific(event, inside) }))),
  }),
);

test('no bytes make the decoder throw, and every answer is one that the engine understands', () => {
  fc.assert(
    fc.property(events, exits, fc.oneof(bytes, fc.string(), fc.json()), (event, exit, out) => {
      const input = request(event, { out, exit, err: out });
      expect(findAnswerProblem(decodeOutput(input))).toBeNull();
      expect(
        findAnswerProblem(decodeLate({ ...input, rewake: { message: null, summary: null } })),
      ).toBeNull();
      parseAsyncLine(out);
    }),
  );
});

test('no JSON makes the decoder throw, and every answer is one that the engine understands', () => {
  fc.assert(
    fc.property(answers, exits, ({ event, out }, exit) => {
      expect(findAnswerProblem(decodeOutput(request(event, { out, exit })))).toBeNull();
    }),
  );
});

test('exit code 2 always denies a tool call', () => {
  const outs = fc.oneof(
    bytes,
    fc.json(),
    answers.map(({ out }) => JSON.stringify(out)),
  );
  fc.assert(
    fc.property(outs, fc.string(), fc.boolean(), (out, err, isTruncated) => {
      const { decision } = decodeOutput(
        request('PreToolUse', { out, err, exit: 2 }, { isTruncated }),
      );
      expect(decision?.effect).toBe('deny');
      expect(decision?.reason).not.toBe('');
    }),
  );
});

test('an object is read as JSON whatever white space is around it', () => {
  const blanks = fc.string({ unit: fc.constantFrom(' ', '\n', '\r\n', '\t') });
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), blanks, (value, blank) => {
      const text = JSON.stringify(value);
      expect(parseOutput(`${blank}${text}${blank}`)).toEqual({
        kind: 'json',
        value: JSON.parse(text),
      });
    }),
  );
});
