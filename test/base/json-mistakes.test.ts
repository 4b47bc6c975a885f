import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { findJsonMistake } from '../../src/base/json-mistakes.ts';
import { parseJson } from '../../src/base/json.ts';

describe('a text that is not JSON is explained', () => {
  it.each([
    ['{ "matcher: "Bash" }', 'line 1, column 14: missing quote after matcher'],
    ['{"a: 1, "b": 2}', 'line 1, column 10: missing quote after a'],
    ['{ "matcher": "Bash, "hooks": [] }', 'line 1, column 22: missing quote after Bash'],
    ['{\n  "type": "command,\n  "x": 1\n}', 'line 2, column 20: missing quote after command'],
    ['{ "hooks: [] }', 'line 1, column 15: missing quote after hooks'],
    ['{"a":"x', 'line 1, column 8: missing quote after x'],
    ['{ matcher": "Bash" }', 'line 1, column 3: missing quote before matcher'],
    ['{ "matcher": Edit|Write" }', 'line 1, column 14: missing quote before Edit|Write'],
    ['{ matcher: 1 }', 'line 1, column 3: missing quotes around matcher'],
    ['{"permissionDecision": deny}', 'line 1, column 24: missing quotes around deny'],
    ['{"command": "echo "hi""}', String.raw`line 1, column 20: a quote inside a string; write \"`],
    ["{'a': 1}", 'line 1, column 2: single quotes; JSON has double quotes'],
    ['{“a”: 1}', 'line 1, column 2: typographic quotes; JSON has straight ones (")'],
    ['{"a": 1,}', 'line 1, column 9: a comma after the last element'],
    ['[1,,2]', 'line 1, column 4: one comma too many'],
    ['{"a": 1\n "b": 2}', 'line 2, column 2: missing comma before this'],
    ['{"a" 1}', 'line 1, column 6: missing colon after the key'],
    ['{"a" = 1}', 'line 1, column 6: = instead of :'],
    ['{"a": 1; "b": 2}', 'line 1, column 8: ; instead of ,'],
    ['{"a":}', 'line 1, column 6: missing value after the colon'],
    ['{"a"}', 'line 1, column 5: missing colon and value after the key'],
    ['{"a": [1, 2}', 'line 1, column 12: ] expected instead of }'],
    ['{"a": 1}}', 'line 1, column 9: one } too many'],
    ['{"a": {"b": [1', 'line 1, column 15: missing ]}} at the end'],
    ['{"a":', 'line 1, column 6: missing a value and } at the end'],
    ['{"cancel": tru}', 'line 1, column 12: tru is not JSON; write true'],
    ['{"cancel": True}', 'line 1, column 12: True is not JSON; write true'],
    ['{"a": None}', 'line 1, column 7: None is not JSON; write null'],
    ['{"timeout": 05}', 'line 1, column 13: 05 is not a number of JSON'],
    [
      String.raw`{"p": "C:\Users"}`,
      String.raw`line 1, column 10: \U is not an escape of JSON; write \\U`,
    ],
    ['{"a": "x\ty"}', String.raw`line 1, column 9: a tab inside a string; write \t`],
    ['// a\n{}', 'line 1, column 1: a comment, which JSON does not have'],
    ['["a": 1]', 'line 1, column 5: a key in an array; only objects ({ }) have keys'],
    ['{} {}', 'line 1, column 4: more than one JSON value'],
    ['{} more', 'line 1, column 4: text after the end of the JSON'],
    ['<html>', 'line 1, column 1: it starts with <html>, which is not JSON'],
    ['<<<<<<< HEAD\n{}', 'line 1, column 1: a conflict marker of git'],
    [
      '{"a":\u00A01}',
      'line 1, column 6: an invisible character (U+00A0); only plain blanks may stand here',
    ],
    ['\uFEFF{"a": 1,}', 'line 1, column 9: a comma after the last element'],
    [' \n', 'it is empty'],
  ])('%j: %s', (text, error) => {
    expect(parseJson(text)).toEqual({ ok: false, error });
  });

  test('with comments and trailing commas, where they are tolerated', () => {
    const tolerance = { comments: true, trailingCommas: true };
    const text = '// a\n{ "a": [1, /* b */ 2,], "b: 3 }';
    expect(findJsonMistake('/* a */ { "a": [1, 2,], } // b', tolerance)).toBeNull();
    expect(findJsonMistake(text, tolerance)).toMatchObject({
      line: 2,
      column: 32,
      guess: 'missing quote after b',
    });
  });

  test('however deep it is nested', () => {
    const { error } = parseJson('['.repeat(200_000)) as { error: string };
    expect(error).toMatch(/^line 1, column 200001: missing \]/);
  });
});

/** A JSON text with a few characters lost, added or replaced. */
const slips = fc.tuple(
  fc.json({ maxDepth: 4 }),
  fc.array(
    fc.tuple(fc.nat(), fc.nat(1), fc.constantFrom('', ...Array.from('"\',:{}[]\\\n\t1a-.e/ '))),
    {
      maxLength: 3,
    },
  ),
);

test('a mistake is found exactly in what the parser rejects, inside of the text', () => {
  fc.assert(
    fc.property(slips, ([json, changes]) => {
      let text = json;
      for (const [place, removed, added] of changes) {
        const at = place % (text.length + 1);
        text = text.slice(0, at) + added + text.slice(at + removed);
      }
      const mistake = findJsonMistake(text);
      expect(mistake === null).toBe(parseJson(text).ok);
      if (mistake === null) return;
      expect(mistake.offset).toBeLessThanOrEqual(text.length);
      expect(mistake.guess).not.toBe('');
    }),
    { numRuns: 2000 },
  );
});
