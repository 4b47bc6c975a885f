import { expect, test } from 'vitest';
import { InputFields } from '../../../src/agent/tools/input-fields.ts';

function reading<Value>(input: Record<string, unknown>, read: (fields: InputFields) => Value) {
  const fields = new InputFields(input);
  const value = read(fields);
  return { value, wrong: fields.findProblem() };
}

test('fields of the right type are read as they are', () => {
  const input = { a: 'text', b: 3, c: true, d: 'two', e: [{ x: '1' }, { x: '2' }], f: ['p', 'q'] };
  expect(
    reading(input, (fields) => [
      fields.text('a'),
      fields.optionalPositiveInteger('b'),
      fields.flag('c'),
      fields.oneOf('d', ['one', 'two']),
      fields.list('e', (item) => item.text('x')),
      fields.optionalTexts('f'),
      fields.has('a'),
    ]),
  ).toEqual({ value: ['text', 3, true, 'two', ['1', '2'], ['p', 'q'], true], wrong: null });
});

test('fields that are absent or null have their default', () => {
  const absent = (fields: InputFields) => [
    fields.optionalText('a'),
    fields.optionalPositiveInteger('a'),
    fields.optionalCount('a'),
    fields.flag('a'),
    fields.optionalOneOf('a', ['one']),
    fields.optionalTexts('a'),
    fields.has('a'),
  ];
  const expected = { value: [null, null, null, false, null, [], false], wrong: null };
  expect(reading({}, absent)).toEqual(expected);
  expect(reading({ a: null }, absent)).toEqual(expected);
});

test('numbers and booleans are read from text, as small models write them', () => {
  expect(
    reading({ a: '12', b: 'true', c: 'false' }, (fields) => [
      fields.optionalPositiveInteger('a'),
      fields.flag('b'),
      fields.flag('c'),
    ]),
  ).toEqual({ value: [12, true, false], wrong: null });
});

test.each<[Record<string, unknown>, (fields: InputFields) => unknown, string]>([
  [{}, (fields) => fields.text('a'), 'expected "a" to be text, found nothing'],
  [{ a: 7 }, (fields) => fields.text('a'), 'expected "a" to be text, found a number: 7'],
  [{ a: null }, (fields) => fields.text('a'), 'expected "a" to be text, found null'],
  [
    { a: ' ' },
    (fields) => fields.requiredText('a'),
    'expected "a" to be text that is not empty, found the text " "',
  ],
  [
    { a: 0 },
    (fields) => fields.optionalPositiveInteger('a'),
    'expected "a" to be a whole number from 1 on, found a number: 0',
  ],
  [
    { a: 1.5 },
    (fields) => fields.optionalCount('a'),
    'expected "a" to be a whole number from 0 on, found a number: 1.5',
  ],
  [
    { a: 'yes' },
    (fields) => fields.flag('a'),
    'expected "a" to be true or false, found the text "yes"',
  ],
  [
    { a: 'three' },
    (fields) => fields.oneOf('a', ['one', 'two']),
    'expected "a" to be one of "one", "two", found the text "three"',
  ],
  [
    { a: false },
    (fields) => fields.optionalOneOf('a', ['one']),
    'expected "a" to be one of "one", found a truth value: false',
  ],
  [{ a: {} }, (fields) => fields.list('a', () => 1), 'expected "a" to be a list, found an object'],
  [
    { a: [{ x: '1' }, { x: 2 }] },
    (fields) => fields.list('a', (item) => item.text('x')),
    'expected "a[1].x" to be text, found a number: 2',
  ],
  [
    { a: ['x'] },
    (fields) => fields.list('a', () => 1),
    'expected "a[0]" to be an object, found the text "x"',
  ],
  [
    { a: ['x', []] },
    (fields) => fields.optionalTexts('a'),
    'expected "a[1]" to be text, found a list',
  ],
  [
    { a: 'x'.repeat(61) },
    (fields) => fields.optionalTexts('a'),
    'expected "a" to be a list of texts, found a text',
  ],
  [
    { a: '' },
    (fields) => fields.flag('a'),
    'expected "a" to be true or false, found an empty text',
  ],
])('%j is refused with what was expected and found', (input, read, wrong) => {
  expect(reading(input, read).wrong).toBe(wrong);
});

test('of several wrong fields the first is reported', () => {
  const { wrong } = reading({}, (fields) => [fields.text('first'), fields.text('second')]);
  expect(wrong).toBe('expected "first" to be text, found nothing');
});

test('an inherited property is no field', () => {
  expect(reading({}, (fields) => fields.has('toString'))).toEqual({ value: false, wrong: null });
});
