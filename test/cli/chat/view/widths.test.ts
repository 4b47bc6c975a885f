import { visibleWidth } from '@earendil-works/pi-tui/dist/utils.js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toScreenText } from '../../../../src/cli/chat/render/format-text.ts';
import { Answer } from '../../../../src/cli/chat/view/answer.ts';
import { Log } from '../../../../src/cli/chat/view/log.ts';
import { ChoicePanel, QuestionPanel } from '../../../../src/cli/chat/view/panel.ts';
import { createTextPart } from '../../../../src/cli/chat/view/part.ts';

// One line that is too wide would end the chat.
it('draws no line that is wider than the terminal, whatever the texts', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc.constantFrom(
      '# ',
      '- ',
      '```\n',
      '| a | b |\n|---|---|\n',
      '\n\n',
      '\t',
      '漢字',
      '👩‍👩‍👧',
      '\u001B[31m',
      '> ',
    ),
  );
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => toScreenText(pieces.join('')));
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 100 }), (text, width) => {
      const wide = everything(text).flatMap((component) => component.render(width));
      expect(wide.filter((line) => visibleWidth(line) > width)).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

function everything(text: string) {
  const log = new Log();
  log.add(createTextPart(text));
  log.addFold({ head: text, details: [text] });
  log.toggleFolds();
  const answer = new Answer(log, () => undefined);
  answer.append(text);
  const countRows = (): number => 24;
  const options = [{ value: 'a', label: text, about: text, key: 'a' }];
  const choice = { title: text, lines: [text], options };
  const question = { title: text, lines: [text], hint: text };
  const ignore = (): void => undefined;
  return [
    log,
    new ChoicePanel(choice, true, countRows, ignore),
    new QuestionPanel(question, countRows, ignore),
  ];
}
