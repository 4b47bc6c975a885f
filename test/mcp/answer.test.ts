import { expect, test } from 'vitest';
import { parseAnswer, parseContents, parsePromptText } from '../../src/mcp/answer.ts';

const text = (words: string) => ({ type: 'text', text: words });

test.each([
  ['nothing that can be understood', 'no', { blocks: [], isError: false }],
  [
    'texts',
    { content: [text('a'), text('b')] },
    { blocks: [text('a'), text('b')], isError: false },
  ],
  ['an error', { content: [text('a')], isError: true }, { blocks: [text('a')], isError: true }],
  [
    'data without words',
    { structuredContent: { count: 1 } },
    { blocks: [text('{"count":1}')], isError: false },
  ],
  [
    'data beside words',
    { content: [text('one')], structuredContent: { count: 1 } },
    { blocks: [text('one')], isError: false },
  ],
  [
    'what is no text',
    {
      content: [
        { type: 'image', data: 'AA==', mimeType: 'image/png' },
        { type: 'audio', data: 'AA==', mimeType: 'audio/wav' },
        { type: 'resource_link', uri: 'note://1', name: 'one', description: 'a note' },
        { type: 'resource', resource: { uri: 'note://1', text: 'inside' } },
        { type: 'resource', resource: { uri: 'note://2', blob: 'AAAA', mimeType: 'font/ttf' } },
        { type: 'new' },
        'odd',
      ],
    },
    {
      blocks: [
        { type: 'image', data: 'AA==', mimeType: 'image/png' },
        text('[audio of type audio/wav]'),
        text('[Resource link: one] note://1 (a note)'),
        text('inside'),
        text('[4 characters of base64, type font/ttf, from note://2]'),
        text('[a block of type "new" that cannot be shown]'),
      ],
      isError: false,
    },
  ],
])('an answer with %s is read', (_what, input, wanted) => {
  expect(parseAnswer(input)).toEqual(wanted);
});

test('a prompt consists of the texts of its messages', () => {
  const messages = [
    { role: 'user', content: text('Review this.') },
    { role: 'assistant', content: text('Yes.') },
    { role: 'user', content: [text('And'), text('that.')] },
  ];
  expect([parsePromptText({ messages }), parsePromptText(null)]).toEqual([
    'Review this.\n\n(You said:) Yes.\n\nAnd\nthat.',
    '',
  ]);
});

test('a resource is text or a picture', () => {
  const contents = [
    { uri: 'a', text: 'words' },
    { uri: 'b', blob: 'AA==', mimeType: 'image/gif' },
    7,
  ];
  expect(parseContents({ contents })).toEqual([
    text('words'),
    { type: 'image', data: 'AA==', mimeType: 'image/gif' },
  ]);
});
