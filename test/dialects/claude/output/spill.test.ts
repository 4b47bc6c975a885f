import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { limitText, type Spill } from '../../../../src/dialects/claude/output/spill.ts';
import { decode, specific } from './outputs.ts';

const LONG = `head-${'x'.repeat(20_000)}-tail\n`;
const noFile: Spill = () => null;

function spillInto(): { readonly directory: string; readonly spill: Spill } {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'hookline-spill-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const spill: Spill = (text, name) => {
    const file = path.join(directory, `${name}.txt`);
    writeFileSync(file, text);
    return file;
  };
  return { directory, spill };
}

test('a text of 10,000 characters is left as it is', () => {
  const text = 'x'.repeat(10_000);
  expect(limitText(text, 'stdout', noFile)).toEqual({ text, notes: [] });
});

test.each([
  ['additionalContext', 'context'],
  ['systemMessage', 'notice'],
  ['stdout', 'context'],
] as const)('%s that is too long becomes a preview of a file', (name, field) => {
  const { directory, spill } = spillInto();
  const outputs = {
    additionalContext: specific('UserPromptSubmit', { additionalContext: LONG.trim() }),
    systemMessage: { systemMessage: LONG.trim() },
    stdout: LONG,
  };
  const answer = decode('UserPromptSubmit', { out: outputs[name] }, { spill });
  const file = path.join(directory, `${name}.txt`);
  expect(answer.decision?.[field]).toBe(
    `<persisted-output>\nOutput too large (19.5KB). Full output saved to: ${file}\n\nPreview (first 2KB):\nhead-${'x'.repeat(1995)}\n...\n</persisted-output>`,
  );
  expect(readFileSync(file, 'utf8')).toBe(LONG.trim());
  expect(answer.notes).toEqual([
    `${name} has 20010 characters, more than 10000; the full text is in ${file}`,
  ]);
});

test('without a file the text is cut, with a note', () => {
  const { text, notes } = limitText(LONG, 'stdout', noFile);
  const note =
    'stdout has 20011 characters, more than 10000, and was cut because it could not be saved to a file';
  expect(text).toBe(`head-${'x'.repeat(9995)}\n[... ${note} ...]`);
  expect(notes).toEqual([note]);
});

test.each([
  ['stderr', { exit: 2, err: LONG }],
  [
    'a deny reason',
    { out: specific('PreToolUse', { permissionDecision: 'deny', permissionDecisionReason: LONG }) },
  ],
  ['a block reason', { out: { decision: 'block', reason: LONG } }],
])('%s is not capped', (_, hook) => {
  expect(decode('PreToolUse', hook).decision?.reason).toContain(LONG.trim());
});
