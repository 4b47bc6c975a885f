import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Answer } from '../../../../src/cli/chat/view/answer.ts';
import { Log } from '../../../../src/cli/chat/view/log.ts';
import { renderMarkdown } from '../../../../src/cli/chat/view/part.ts';

const WIDTH = 60;

/** What stands there after the text came in pieces of these lengths. */
function streamed(text: string, lengths: readonly number[]): string {
  const log = new Log();
  const answer = new Answer(log, () => undefined);
  let at = 0;
  for (const length of lengths) {
    answer.append(text.slice(at, at + length));
    log.render(WIDTH);
    at += length;
  }
  answer.append(text.slice(at));
  answer.end(text);
  return joinLines(log.render(WIDTH));
}

function whole(text: string): string {
  return joinLines(renderMarkdown(text, WIDTH));
}

function joinLines(lines: readonly string[]): string {
  return lines.join('\n').trimEnd();
}

const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join('\n');

const ANSWERS: readonly (readonly [string, string])[] = [
  ['paragraphs', 'One **bold**.\n\nTwo `code`,\nin two lines.\n\n\n\nThree.'],
  ['a heading', '# Title\n\nText.\n\n## Part\n\nMore.'],
  ['code', 'Look:\n\n```js\nconst a = 1;\n\nconst b = 2;\n```\n\nThat is all.'],
  ['code without an end', 'Look:\n\n```\none\ntwo'],
  ['long code', `Look:\n\n\`\`\`ts\n${lines(200, (at) => `line(${at});`)}\n\`\`\`\n\nThat is all.`],
  ['a long list', lines(200, (at) => `- item ${at}`)],
  ['long numbered items', lines(150, (at) => `${at + 1}. item ${at}`)],
  ['long text', lines(200, (at) => `line ${at}`)],
  ['a quote', '> said\n> so\n\nYes.'],
  ['a table', '| a | b |\n|---|---|\n| 1 | 2 |\n\nAfter.'],
];

describe('an answer in pieces', () => {
  it.each(ANSWERS)('is drawn like the whole answer: %s', (_name, text) => {
    const pieces = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 60 });
    fc.assert(
      fc.property(pieces, (lengths) => {
        expect(streamed(text, lengths)).toBe(whole(text));
      }),
      { numRuns: 20 },
    );
  });

  it('repeats the head of a table that is too long to be one', () => {
    const text = `| name | value |\n|---|---|\n${lines(100, (at) => `| n${at} | ${at} |`)}`;
    const heads = streamed(text, [])
      .split('\n')
      .filter((line) => line.includes('name'));
    expect(heads).toHaveLength(2);
  });

  it('is replaced by the text that hooks let the user see', () => {
    const log = new Log();
    const answer = new Answer(log, () => undefined);
    answer.append('The password is swordfish.\n\nKeep it.');
    answer.end('The password is ….');
    expect(joinLines(log.render(WIDTH))).toBe('The password is ….');
  });

  it('keeps the end of the text when it becomes too long', () => {
    const log = new Log();
    const answer = new Answer(log, () => undefined);
    answer.append(lines(9000, (at) => `line ${at}\n`));
    const rest = log.render(WIDTH);
    expect(rest.length).toBeLessThan(4200);
    expect([rest[0], rest.at(-2)]).toEqual([
      '… earlier output: `hookline sessions show`',
      'line 8999',
    ]);
  });
});
