import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { answered, bash, command, type Group, hooks, type OpenFixture } from '../../fixture.ts';

const LONG = (count: number): string => `"head-$(head -c ${count} /dev/zero | tr '\\0' x)-tail"`;
const createLongText = (count: number): string => `head-${'x'.repeat(count)}-tail`;
const prints = (json: string, count: number): string => `printf '${json}' ${LONG(count)}`;

async function fired(openFixture: OpenFixture, event: 'PreToolUse' | 'PostToolUse', text: string) {
  const { fire } = await openFixture({ project: hooks(event, [command(text)]) });
  const facts =
    event === 'PreToolUse' ? bash('echo one') : { ...bash('echo one'), ...answered('one') };
  return fire(event, facts);
}

/** A preview of what is too long, and the whole of it in a file. */
function expectPersisted(text: string | undefined, size: string, original: string): void {
  const [, file = ''] = /Full output saved to: (.*)\n/u.exec(text ?? '') ?? [];
  expect(text).toBe(
    [
      '<persisted-output>',
      `Output too large (${size}). Full output saved to: ${file}`,
      '',
      'Preview (first 2KB):',
      original.slice(0, 2000),
      '...',
      '</persisted-output>',
    ].join('\n'),
  );
  expect(readFileSync(file, 'utf8')).toBe(original);
}

export const caps: Group = {
  name: '38-caps',
  cases: [
    { name: 'exit2 stderr', run: keepsStderr },
    { name: 'deny reason', run: keepsDenyReason },
    { name: 'systemMessage', run: capsMessage },
    { name: 'additionalContext', run: capsContext },
    { name: 'block reason', run: keepsBlockReason },
  ],
};

async function keepsStderr(openFixture: OpenFixture): Promise<void> {
  const text = `echo ${LONG(20_000)} >&2; exit 2`;
  const { effect, reasons } = await fired(openFixture, 'PreToolUse', text);
  expect(effect).toBe('deny');
  expect(reasons.map((reason) => reason.text)).toEqual([`[${text}]: ${createLongText(20_000)}`]);
}

async function keepsDenyReason(openFixture: OpenFixture): Promise<void> {
  const json =
    '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"%s"}}';
  const { reasons } = await fired(openFixture, 'PreToolUse', prints(json, 20_000));
  expect(reasons.map((reason) => reason.text)).toEqual([createLongText(20_000)]);
}

async function capsMessage(openFixture: OpenFixture): Promise<void> {
  const verdict = await fired(openFixture, 'PreToolUse', prints('{"systemMessage":"%s"}', 20_000));
  expectPersisted(verdict.messages[0]?.text, '19.5KB', createLongText(20_000));
}

async function capsContext(openFixture: OpenFixture): Promise<void> {
  const json = '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"%s"}}';
  const verdict = await fired(openFixture, 'PostToolUse', prints(json, 30_000));
  expectPersisted(verdict.context[0]?.text, '29.3KB', createLongText(30_000));
}

async function keepsBlockReason(openFixture: OpenFixture): Promise<void> {
  const json = '{"decision":"block","reason":"%s"}';
  const { effect, reasons } = await fired(openFixture, 'PostToolUse', prints(json, 30_000));
  expect(effect).toBe('deny');
  expect(reasons.map((reason) => reason.text)).toEqual([createLongText(30_000)]);
}
