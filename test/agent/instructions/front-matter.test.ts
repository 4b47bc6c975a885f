import { expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  getListField,
  parseFrontMatter,
  getTextField,
  parsePlainFields,
} from '../../../src/agent/instructions/front-matter.ts';

test('plain lines and real YAML are read alike', async () => {
  const plain = await parseFrontMatter('---\nname: deploy\ndescription: Ships it\n---\nGo.\n');
  expect(plain).toEqual({
    fields: { name: 'deploy', description: 'Ships it' },
    body: 'Go.\n',
    problem: null,
  });
  const yaml = await parseFrontMatter(
    '---\nname: "deploy"\ntools:\n  - Read\n  - 7\nn: {a: 3}\n---\nGo.\n',
  );
  expect(yaml).toEqual({
    fields: { name: 'deploy', tools: ['Read', 7], n: { a: 3 } },
    body: 'Go.\n',
    problem: null,
  });
});

test('words that YAML takes for something else are left to YAML', async () => {
  const front = await parseFrontMatter('---\na: true\nb: x # why\nc: >\n  long\n  text\n---\n');
  expect(front.fields).toEqual({ a: true, b: 'x', c: 'long text\n' });
  expect([getTextField(front, 'a'), getTextField(front, 'c'), getTextField(front, 'd')]).toEqual([
    'true',
    'long text',
    null,
  ]);
});

test('a description with a colon in it is no YAML, and is read all the same', async () => {
  const front = await parseFrontMatter('---\nname: a\ndescription: Use it when: always\n---\nx');
  expect(front.fields).toEqual({ name: 'a', description: 'Use it when: always' });
  expect(front.problem).toMatch(/^invalid YAML front matter \(.+\); read line by line$/);
});

test('front matter that is no list of fields is a problem, never an exception', async () => {
  const list = await parseFrontMatter('---\n- a\n- b\n---\nx');
  expect(list).toEqual({
    fields: {},
    body: 'x',
    problem: 'expected lines such as "name: value" in the front matter',
  });
  const bomb = `---\na: &a [1]\n${'b: [*a, *a]\n'.repeat(200)}---\nx`;
  expect((await parseFrontMatter(bomb)).body).toBe('x');
});

test('lists may be written with commas, which do not split the inside of brackets', async () => {
  const front = await parseFrontMatter(
    '---\ntools: Read, Bash(git add:*, git commit:*), "Grep"\nglobs: src/**/*.{ts,tsx}, *.md\n---\n',
  );
  expect(getListField(front, 'globs')).toEqual(['src/**/*.{ts,tsx}', '*.md']);
  expect(getListField(front, 'tools')).toEqual(['Read', 'Bash(git add:*, git commit:*)', '"Grep"']);
  expect(getListField(front, 'none')).toBe(null);
});

const PLAIN = [
  'name: deploy',
  'name: deploy\ndescription: Ships it, at last (really)\n\n# comment\nmodel: "x y"',
  'paths:\n  - \'src/**/*.ts\'\n  - docs\n  - "*.md"',
  'paths: [a, "b c"]\nallowed-tools: Bash(git add:*), Read',
  'a: ./x\nb: $ARGUMENTS\nc: 12ab\r\nd: it\u2019s "quoted" inside',
  "a: ''",
];

const BEYOND = [
  'a: b: c',
  'a: x # y',
  'a: |\n  text',
  'a: >-\n  text',
  'a:',
  'a: &x y',
  'a: *x',
  'a: !tag y',
  'a: {b: c}',
  'a: [b, [c]]',
  'a: null',
  'a: ~',
  'a: "x\\ty"',
  'a: one\n  two',
  'a: 1\na: 2',
  '- a',
  'a:\n  b: c',
  'a: "x" y',
  'a: @x',
  'a: `x`',
  'a: %x',
];

test.each(PLAIN)('a text that is read without YAML gives the same as YAML: %j', (text) => {
  expect(parsePlainFields(text)).toEqual(parse(text));
});

test.each(BEYOND)('anything but plain text is left to YAML: %j', (text) => {
  expect(parsePlainFields(text)).toBe(null);
});
