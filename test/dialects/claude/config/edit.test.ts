import fc from 'fast-check';
import { assert, describe, expect, test } from 'vitest';
import { addEntry, removeEntry } from '../../../../src/dialects/claude/config/edit.ts';
import { readHooksText } from '../../../../src/dialects/claude/config/read-hooks-text.ts';
import type { Source } from '../../../../src/dialects/claude/entry.ts';

const SOURCE: Source = {
  kind: 'project',
  label: 'project',
  file: '/w/.claude/settings.json',
  place: 'workspace',
  root: '/w',
  isCline: false,
  family: 'settings',
  plugin: null,
};

const TEXT = `{
  // mine
  "model": "x", // keep
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          { "type": "command", "command": "a" }, // first
          { "type": "command", "command": "b" },
        ],
      },
    ],
    // at the end
    "Stop": [{ "hooks": [{ "type": "command", "command": "s" }] }]
  }
}
`;

const HANDLER = { type: 'command', command: 'c' };

function commandsOf(text: string): string[] {
  const { entries, broken } = readHooksText(text, SOURCE, 'settings');
  expect(broken).toEqual([]);
  return entries.map(
    (entry) => `${entry.event} ${entry.matcher} ${'command' in entry && entry.command}`,
  );
}

/** The lines that one text has and the other has not. */
function difference(before: string, after: string) {
  const lines = (text: string) => text.split('\n').map((line) => line.replace(/,$/, ''));
  const [old, fresh] = [lines(before), lines(after)];
  return {
    gone: old.filter((line) => !fresh.includes(line)),
    added: fresh.filter((line) => !old.includes(line)),
  };
}

describe('removing an entry', () => {
  test('takes its line and nothing else', () => {
    expect(difference(TEXT, removeEntry(TEXT, { event: 'PreToolUse', line: 10 }))).toEqual({
      gone: ['          { "type": "command", "command": "b" }'],
      added: [],
    });
  });

  test('takes the remark at the end of its line with it', () => {
    const edited = removeEntry(TEXT, { event: 'PreToolUse', line: 9 });
    expect(edited).not.toContain('first');
    expect(commandsOf(edited)).toEqual(['PreToolUse Bash b', 'Stop undefined s']);
  });

  test('that is the last takes its group and its event, and no comment', () => {
    const once = removeEntry(TEXT, { event: 'PreToolUse', line: 9 });
    expect(removeEntry(once, { event: 'PreToolUse', line: 9 })).toBe(`{
  // mine
  "model": "x", // keep
  "hooks": {
    // at the end
    "Stop": [{ "hooks": [{ "type": "command", "command": "s" }] }]
  }
}
`);
    const without = removeEntry(TEXT, { event: 'Stop', line: 15 });
    expect(commandsOf(without)).toEqual(['PreToolUse Bash a', 'PreToolUse Bash b']);
    expect(without).toContain('// at the end');
  });

  test('finds the entry that was read among others of its line', () => {
    const text = `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a"},{"type":"command","command":"b"}]}]}}`;
    const [, second] = readHooksText(text, SOURCE, 'settings').entries;
    assert(second !== undefined);
    expect(removeEntry(text, second)).toBe(
      `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a"}]}]}}`,
    );
    expect(() => removeEntry(text, { event: 'Stop', line: 1 })).toThrow(
      'expected one handler of Stop at line 1, found 2',
    );
  });

  test.each([
    ['{"hooks": ', 'found the end of the file at column 11 (missing a value and } at the end)'],
    ['{}', 'expected this handler of Stop at line 1, found no such handler there'],
  ])('of %s is refused', (text, message) => {
    expect(() => removeEntry(text, { event: 'Stop', line: 1 })).toThrow(message);
  });
});

describe('adding an entry', () => {
  test('joins the group of the same matcher, laid out like its neighbours', () => {
    const text = addEntry(TEXT, 'PreToolUse', { matcher: 'Bash', handler: HANDLER });
    expect(difference(TEXT, text)).toEqual({
      gone: [],
      added: ['          { "type": "command", "command": "c" }'],
    });
  });

  test('makes a group, an event, hooks or a file where there is none', () => {
    const added = (text: string, matcher?: string) =>
      addEntry(text, 'PostToolUse', { matcher, handler: HANDLER });
    const fresh = `{
  "hooks": {
    "PostToolUse": [
      {
        "matcher": "Edit",
        "hooks": [
          {
            "type": "command",
            "command": "c"
          }
        ]
      }
    ]
  }
}`;
    expect(added('', 'Edit')).toBe(`${fresh}\n`);
    expect(added('{}', 'Edit')).toBe(fresh);
    expect(added('{ "hooks": {} }')).toContain('"PostToolUse": [');
    expect(commandsOf(added(TEXT))).toEqual([
      'PreToolUse Bash a',
      'PreToolUse Bash b',
      'Stop undefined s',
      'PostToolUse undefined c',
    ]);
    expect(difference(TEXT, added(TEXT)).gone).toEqual([]);
  });

  test('keeps tabs, CRLF and the byte-order mark', () => {
    const text = '\uFEFF{\r\n\t"hooks": {\r\n\t\t"Stop": []\r\n\t}\r\n}\r\n';
    expect(addEntry(text, 'Stop', { matcher: undefined, handler: HANDLER })).toBe(
      '\uFEFF{\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{\r\n\t\t\t\t"hooks": [\r\n\t\t\t\t\t{\r\n\t\t\t\t\t\t"type": "command",\r\n\t\t\t\t\t\t"command": "c"\r\n\t\t\t\t\t}\r\n\t\t\t\t]\r\n\t\t\t}\r\n\t\t]\r\n\t}\r\n}\r\n',
    );
  });

  test.each([
    ['[]', 'expected an object with "hooks", found array'],
    ['{"hooks": []}', '"hooks": expected an object of events, found array'],
    ['{"hooks": {"Stop": {}}}', '"Stop": expected an array of matcher groups, found object'],
    ['{,}', 'line 1: expected JSON, found "," at column 2 (one comma too many)'],
  ])('to %s is refused', (text, message) => {
    expect(() => addEntry(text, 'Stop', { matcher: undefined, handler: HANDLER })).toThrow(message);
  });
});

describe('both together', () => {
  const names = fc.constantFrom('a', 'b', 'c', 'd');
  const matchers = fc.constantFrom(undefined, 'Bash', 'Edit');
  const settings = fc.record({
    model: fc.string(),
    hooks: fc.dictionary(
      fc.constantFrom('PreToolUse', 'Stop', 'SessionEnd'),
      fc.array(
        fc.record({
          hooks: fc.array(fc.record({ type: fc.constant('command'), command: names }), {
            minLength: 1,
          }),
        }),
        { minLength: 1 },
      ),
    ),
  });

  test('change exactly one entry, in any layout', () => {
    fc.assert(
      fc.property(settings, matchers, fc.constantFrom(0, 1, 2, '\t'), (value, matcher, space) => {
        const before = JSON.stringify(value, null, space);
        const after = addEntry(before, 'Stop', {
          matcher,
          handler: { type: 'command', command: 'new' },
        });
        const { entries } = readHooksText(after, SOURCE, 'settings');
        expect(commandsOf(after).toSorted()).toEqual(
          [...commandsOf(before), `Stop ${matcher} new`].toSorted(),
        );
        const added = entries.find((entry) => 'command' in entry && entry.command === 'new');
        assert(added !== undefined);
        expect(JSON.parse(removeEntry(after, added))).toEqual(value);
      }),
    );
  });
});
