import { expect, test } from 'vitest';
import { readPrompt } from '../../src/acp/read-prompt.ts';

test('a slash command stays at the beginning, whatever is attached to the prompt', () => {
  const prompt = readPrompt([
    { type: 'text', text: '/review ' },
    { type: 'resource', resource: { uri: 'file:///work/a%20b.ts', text: 'let a;' } },
  ]);
  expect(prompt).toStrictEqual({
    text: '/review @/work/a b.ts\n\n<context ref="/work/a b.ts">\nlet a;\n</context>',
    images: [],
    notes: [],
  });
});

test('pictures are passed on, be they embedded or not', () => {
  const { text, images, notes } = readPrompt([
    { type: 'image', mimeType: 'image/webp', data: 'AA' },
    { type: 'resource', resource: { uri: 'file:///p.png', blob: 'BB', mimeType: 'image/png' } },
  ]);
  expect({ text, types: images.map(({ source }) => source.media_type), notes }).toStrictEqual({
    text: '@/p.png',
    types: ['image/webp', 'image/png'],
    notes: [],
  });
});

test('content that cannot be passed on is listed in the notes', () => {
  const { text, images, notes } = readPrompt([
    { type: 'image', mimeType: 'image/tiff', data: 'AA' },
    { type: 'audio', mimeType: 'audio/wav', data: 'AA' },
    { type: 'resource', resource: { uri: 'file:///a.zip', blob: 'BB' } },
    { type: 'resource_link', name: 'page', uri: 'https://example.com/' },
    { type: 'resource_link', name: 'far', uri: 'file://host%/x' },
  ]);
  expect({ text, images, notes }).toStrictEqual({
    text: '@/a.zip[page](https://example.com/)[far](file://host%/x)',
    images: [],
    notes: [
      'an image of type image/tiff cannot be sent to the model and is ignored',
      'audio cannot be sent to the model and is ignored',
      '/a.zip is neither text nor a picture, so only its name is passed on',
    ],
  });
});
