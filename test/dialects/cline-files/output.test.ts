import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readAnswer } from '../../../src/dialects/cline-files/output.ts';

const MORE = 'stdout holds more than its JSON';
const CANCEL = { answer: { cancel: true }, fault: null, notes: [] };
const CANCEL_IN_NOISE = { ...CANCEL, notes: [MORE] };

describe('the three ways of finding JSON', () => {
  test.each([
    ['the whole of stdout', '{"cancel":true}'],
    ['with white space around it', ' \r\n\t{"cancel": true}\n\n'],
    ['over several lines', '{\n  "cancel": true\n}\n'],
    ['with CRLF line ends', '{\r\n  "cancel": true\r\n}\r\n'],
    ['after a byte-order mark', '\uFEFF{"cancel":true}'],
    ['in a control line', 'HOOK_CONTROL\t{"cancel":true}'],
    ['in a control line among others', 'debug {\nHOOK_CONTROL\t{"cancel":true}\nmore }\n'],
    ['in a control line with CRLF', 'noise\r\nHOOK_CONTROL\t{"cancel":true}\r\n'],
    ['in an indented control line', '   HOOK_CONTROL\t{"cancel":true}'],
    [
      'in the last of several control lines',
      'HOOK_CONTROL\t{"cancel":false}\nHOOK_CONTROL\t{"cancel":true}',
    ],
    ['in a control line before other JSON', 'HOOK_CONTROL\t{"cancel":true}\n{"cancel":false}'],
  ])('%s', (_, stdout) => {
    expect(readAnswer(stdout)).toEqual(CANCEL);
  });

  test.each([
    ['after noise', 'checking a.js\n{"cancel":true}'],
    ['before noise', '{"cancel":true}\ndone.'],
    ['after text on the same line', 'RESULT: {"cancel":true}'],
    ['before text on the same line', '{"cancel":true} done'],
    ['after a byte-order mark and noise', '\uFEFFnoise\n{"cancel":true}'],
    ['the last of two objects on one line', '{"cancel":false}{"cancel":true}'],
    ['the last of two objects on two lines', '{"cancel":false}\n{"cancel":true}\n'],
    ['before noise with a closing brace', '{"cancel":true}\n}\n'],
    ['before noise with an opening brace', '{"cancel":true}\nfunction () {\n'],
    ['after noise with an opening brace', 'if (x) {\n{"cancel":true}\n'],
    ['after noise with a closing brace', '} done }\n{"cancel":true}\n'],
    ['after noise with an odd quote', 'it said "hello\n{"cancel":true}'],
    ['after noise with an odd quote inside a brace', '{ it said "hello\n{"cancel":true}'],
    ['after an apostrophe', 'don\'t\n{"cancel":true}'],
    ['inside braces that are no JSON', 'dump = { answer: {"cancel":true} }'],
    ['with CRLF noise', 'one\r\n{"cancel":true}\r\ntwo\r\n'],
    ['before JSON that says nothing', '{"cancel":true}\n{"level":"info","msg":"done"}'],
    ['before several log lines', `{"cancel":true}\n${'{"level":"info"}\n'.repeat(500)}`],
    ['before many braces of a minified script', `{"cancel":true}\n${'{x}'.repeat(500)}`],
    ['in an array', '[{"cancel":true}]'],
  ])('%s', (_, stdout) => {
    expect(readAnswer(stdout)).toEqual(CANCEL_IN_NOISE);
  });

  test('braces and quotes inside strings are no structure', () => {
    const errorMessage = 'use } or { and \\" or "}{" \\';
    const json = JSON.stringify({ cancel: true, errorMessage });
    expect(readAnswer(`noise\n${json}\nnoise`).answer).toEqual({ cancel: true, errorMessage });
  });

  test('a nested object is no answer of its own', () => {
    const { answer } = readAnswer('log\n{"context":"kept","data":{"cancel":true}}');
    expect(answer).toEqual({ context: 'kept' });
  });

  test.each([
    ['{"data":{"cancel":true}}', 'data."cancel": true'],
    ['{"cancel":false,"result":{"decision":"block"}}', 'result."decision": block'],
    ['{"result":{"data":[{"decision":"block"}]}}', 'result.data."decision": block'],
  ])('a refusal in a wrapper is suspicious: %s', (stdout, place) => {
    const { fault, suspicion } = readAnswer(stdout);
    expect([fault, suspicion]).toEqual([
      null,
      `${place} is not read, but looks like a refusal; expected {"cancel": true}`,
    ]);
  });

  test('an object inside JSON without known fields is no answer', () => {
    expect(readAnswer('{"payload":{"cancel":true}}')).toEqual({
      answer: null,
      fault: null,
      notes: [],
      warnings: ['its JSON has no known field'],
    });
    expect(readAnswer('log {"a":1}')).toEqual({
      answer: null,
      fault: null,
      notes: [MORE],
      warnings: ['its JSON has no known field'],
    });
  });
});

describe('no answer', () => {
  test.each([
    ['', []],
    [' \n\t\r\n', []],
    ['just text', ['stdout holds no JSON, so it is ignored']],
    ['null', ['stdout is JSON but not an object, so it is ignored']],
    ['[]', ['stdout is JSON but not an object, so it is ignored']],
    ['[1, 2]', ['stdout is JSON but not an object, so it is ignored']],
    ['42', ['stdout is JSON but not an object, so it is ignored']],
    ['true', ['stdout is JSON but not an object, so it is ignored']],
    ['{}', []],
    ['HOOK_CONTROL\tnull', []],
    ['{"cancel":true}\nHOOK_CONTROL\t{}', []],
  ])('%j', (stdout, notes) => {
    expect(readAnswer(stdout)).toEqual({ answer: null, fault: null, notes });
  });
});

describe('a fault', () => {
  test.each([
    ['unquoted keys', '{cancel:false,contextModification:"",errorMessage:""}'],
    ['a control line without JSON', 'HOOK_CONTROL\tcancel'],
    ['a control line with a word', 'HOOK_CONTROL\t"cancel"'],
    ['a control line with an array', 'HOOK_CONTROL\t[{"cancel":false}]'],
  ])('is %s', (_, stdout) => {
    expect(readAnswer(stdout)).toEqual({
      answer: null,
      fault: expect.stringMatching(/is not readable as JSON: /),
      notes: [],
    });
  });

  test.each([
    ['a bare string', '"cancel"'],
    ['an array of words', '["no"]'],
    ['an array around an answer', '[{"cancel":false}]'],
    ['a doubled key', '{"cancel":false,"cancel":false}'],
    ['UTF-16', Buffer.from('{"cancel":false}', 'utf16le').toString('utf8')],
    ['YAML', 'cancel: maybe'],
  ])('is %s, which does not agree', (_, stdout) => {
    expect(readAnswer(stdout)).toEqual({ answer: null, fault: expect.any(String), notes: [] });
  });

  test.each([
    ['single quotes', "{'cancel': true}"],
    ['a missing brace', '{"cancel":true'],
    ['a trailing comma', '{"cancel":true,}'],
    ['a control line that is cut off', '{"context":"log"}\nHOOK_CONTROL\t{"cancel":true'],
    ['a doubled key', '{"cancel":true,"cancel":false}'],
    ['a doubled key behind an escape', String.raw`{"cancel":true,"c\u0061ncel":false}`],
    ['two answers', '{"cancel":true}\n{"cancel":false}'],
    [
      'Claude’s answer',
      '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}',
    ],
    ['Claude’s answer beside an allow', '{"cancel":false,"decision":"block"}'],
    ['a list as the decision', '{"decision":["block"]}'],
    ['a refusal before context', '{"cancel":true}\n{"contextModification":"x"}'],
    ['two control lines', 'HOOK_CONTROL\t{"cancel":true}\nHOOK_CONTROL\t{"cancel":false}'],
    ['an answer as a JSON string', JSON.stringify('{"cancel":true}')],
    ['UTF-16', Buffer.from('\uFEFF{"cancel":true}', 'utf16le').toString('utf8')],
    ['colour codes inside', '{"cancel":\u001B[31mtrue\u001B[0m}'],
    ['YAML', 'cancel: true\nerrorMessage: no\n'],
    ['a key in another case', '{"Cancel":true}'],
    ['another agent’s answer', '{"decision":"block"}'],
    ['a word for true', '{"cancel":"yes"}'],
    ['a number for true', '{"cancel":1}'],
    ['a word for false', '{"shouldContinue":"no"}'],
    ['a number for false', '{"should_continue":0}'],
  ])('refuses when one reading does: %s', (_, stdout) => {
    const { answer, fault, refusal } = readAnswer(stdout);
    expect({ answer, fault, refusal }).toEqual({
      answer: null,
      fault: expect.any(String),
      refusal: expect.any(String),
    });
  });

  test.each([
    ['{"cancel":"maybe"}', '"cancel" should be true or false, found string "maybe"'],
    ['{"cancel":[]}', '"cancel" should be true or false, found array'],
    ['{"shouldContinue":7}', '"shouldContinue" should be true or false, found number 7'],
    ['{"cancel":false,"review":{}}', '"review" should be true or false, found object'],
  ])('is a flag that cannot be read: %s', (stdout, fault) => {
    expect(readAnswer(stdout)).toEqual({ answer: null, fault, notes: [] });
  });

  test.each([
    [
      '{"cancel":true,"review":"maybe"}',
      '"review" should be true or false, found string "maybe"; ignored',
    ],
    [
      '{"cancel":true,"shouldContinue":"no"}',
      '"shouldContinue" should be true or false, found string "no"; ignored',
    ],
    [
      '{"cancel":1,"should_continue":false}',
      '"cancel" should be true or false, found number 1; ignored',
    ],
    [
      `{"cancel":true,"overrideInput":${'['.repeat(2000)}${']'.repeat(2000)}}`,
      '"overrideInput" is nested deeper than 1000 levels; ignored',
    ],
  ])('does not drop a refusal (%#)', (stdout, note) => {
    expect(readAnswer(stdout)).toEqual({ answer: { cancel: true }, fault: null, notes: [note] });
  });

  test('shows only the beginning of a long value', () => {
    const { fault } = readAnswer(JSON.stringify({ cancel: 'x'.repeat(100_000) }));
    expect(fault?.length).toBeLessThan(300);
  });
});

describe('fields', () => {
  test.each([
    [
      'camelCase',
      { cancel: true, contextModification: 'c', errorMessage: 'e', overrideInput: { a: 1 } },
    ],
    [
      'snake_case',
      { cancel: true, context_modification: 'c', error_message: 'e', override_input: { a: 1 } },
    ],
    ['the SDK’s', { cancel: true, context: 'c', errorMessage: 'e', overrideInput: { a: 1 } }],
    [
      'the older',
      { shouldContinue: false, context: 'c', errorMessage: 'e', overrideInput: { a: 1 } },
    ],
    [
      'the oldest',
      { should_continue: false, context: 'c', errorMessage: 'e', overrideInput: { a: 1 } },
    ],
  ])('%s spelling', (_, fields) => {
    expect(readAnswer(JSON.stringify(fields))).toEqual({
      answer: { cancel: true, context: 'c', errorMessage: 'e', overrideInput: { a: 1 } },
      fault: null,
      notes: [],
    });
  });

  test.each([
    [{ cancel: false }, { cancel: false }],
    [{ shouldContinue: true }, { cancel: false }],
    [{ cancel: false, shouldContinue: false }, { cancel: true }],
    [{ cancel: true, shouldContinue: true }, { cancel: true }],
    [{ cancel: null, review: true }, { review: true }],
    [{ review: false }, { review: false }],
    [{ context: 'sdk', contextModification: 'classic' }, { context: 'sdk' }],
    [{ context: '  ', contextModification: 'classic' }, { context: 'classic' }],
    [{ contextModification: '', errorMessage: ' ' }, {}],
    [{ overrideInput: null, cancel: false }, { cancel: false }],
    [{ overrideInput: false }, { overrideInput: false }],
    [{ cancel: false, unknown: [1] }, { cancel: false }],
  ])('%j', (fields, answer) => {
    expect(readAnswer(JSON.stringify(fields))).toEqual({ answer, fault: null, notes: [] });
  });

  test.each([
    ['true', true],
    ['TRUE', true],
    [' false ', false],
  ])('the string %j is converted', (written, cancel) => {
    expect(readAnswer(JSON.stringify({ cancel: written }))).toEqual({
      answer: { cancel },
      fault: null,
      notes: [
        `"cancel" should be ${cancel}, found the string ${JSON.stringify(written)}; accepted`,
      ],
    });
  });

  test('texts of the wrong type are ignored with a note, and the rest counts', () => {
    const fields = { cancel: true, errorMessage: 5, contextModification: ['a'] };
    expect(readAnswer(JSON.stringify(fields))).toEqual({
      answer: { cancel: true },
      fault: null,
      notes: [
        '"contextModification" should be a string, found array; ignored',
        '"errorMessage" should be a string, found number; ignored',
      ],
    });
  });

  test('lone surrogates are kept as they are', () => {
    const { answer } = readAnswer('{"cancel":true,"errorMessage":"\\ud800 \\udc00x"}');
    expect(answer).toEqual({ cancel: true, errorMessage: '\ud800 \udc00x' });
    expect(readAnswer('\ud800 {"cancel":true} \udc00').answer).toEqual({ cancel: true });
  });
});

describe('hostile output', () => {
  const LEVELS = 100_000;
  const nest = (open: string, close: string, inner = '') =>
    open.repeat(LEVELS) + inner + close.repeat(LEVELS);

  test.each([
    ['nested arrays', nest('[', ']')],
    ['nested objects', nest('{"a":', '}', '1')],
    ['nested objects that say something', nest('{"context":', '}', '1')],
    ['nested objects in noise', `noise ${nest('{"a":', '}', '1')} noise`],
    ['nested braces that are no JSON', nest('{', '}')],
    ['a deeply nested flag', `{"cancel":${nest('[', ']')}}`],
    ['a deeply nested text', `{"context":${nest('[', ']')}}`],
    ['a deeply nested rewrite', `{"overrideInput":${nest('{"a":', '}', '1')}}`],
    ['quotes', '"'.repeat(LEVELS)],
    ['backslashes', `{"${'\\'.repeat(LEVELS)}`],
  ])('%s of 100,000 levels does not crash the parser', (_, stdout) => {
    const { answer } = readAnswer(stdout);
    expect(answer?.cancel).not.toBe(true);
    expect(() => JSON.stringify(answer)).not.toThrow();
  });

  test('a rewrite that is nested too deeply is a fault', () => {
    expect(readAnswer(`{"overrideInput":${nest('[', ']')}}`)).toEqual({
      answer: null,
      fault: expect.stringContaining('nested'),
      notes: [],
    });
  });

  test.each([
    ['opening braces', '{'.repeat(8_000_000)],
    ['empty objects', '{}'.repeat(4_000_000)],
    ['braces in pairs', '{'.repeat(4_000_000) + '}'.repeat(4_000_000)],
    ['open keys', '{"a":'.repeat(1_600_000)],
    ['lines', '{\n'.repeat(4_000_000)],
  ])('8 MB of %s end', (_, stdout) => {
    expect(readAnswer(stdout).answer).toBeNull();
  });

  test('8 MB of objects keep the cancel that came before them', () => {
    const { answer } = readAnswer(`{"cancel":true}\n${'{"a":1}\n'.repeat(1_000_000)}`);
    expect(answer).toEqual({ cancel: true });
  });
});

test('no text makes the parser throw', () => {
  const pieces = fc.constantFrom(
    '{',
    '}',
    '"',
    '\\',
    '\n',
    ':',
    ',',
    'HOOK_CONTROL\t',
    '"cancel"',
    'true',
    '[',
    ']',
    '\uFEFF',
    ' ',
  );
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(pieces, { maxLength: 30 }).map((list) => list.join('')),
    fc.json(),
  );
  fc.assert(
    fc.property(texts, (stdout) => {
      const { answer, fault } = readAnswer(stdout);
      expect(answer === null || fault === null).toBe(true);
    }),
    { numRuns: 500 },
  );
});

describe('an object printed after noise without braces', () => {
  const noise = fc.string().map((text) => text.replaceAll(/[{}]/g, ''));
  const answers = fc.record(
    { cancel: fc.boolean(), errorMessage: fc.string(), unknown: fc.jsonValue() },
    { requiredKeys: ['cancel'] },
  );

  test('is found, whatever is in it', () => {
    fc.assert(
      fc.property(noise, answers, fc.constantFrom(undefined, 2), (text, answer, space) => {
        const stdout = `${text}\n${JSON.stringify(answer, null, space)}\n`;
        const found = readAnswer(stdout).answer;
        expect(found?.cancel).toBe(answer.cancel);
        const expectedMessage = answer.errorMessage;
        expect(found?.errorMessage).toBe(
          expectedMessage === undefined || expectedMessage.trim() === ''
            ? undefined
            : expectedMessage,
        );
      }),
      { numRuns: 500 },
    );
  });

  test('is found on the same line, and with noise after it', () => {
    fc.assert(
      fc.property(noise, answers, noise, (before, answer, after) => {
        const stdout = `${before} ${JSON.stringify(answer)} ${after}`;
        expect(readAnswer(stdout).answer?.cancel).toBe(answer.cancel);
      }),
      { numRuns: 500 },
    );
  });
});
