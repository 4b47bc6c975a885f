import { expect, it } from 'vitest';
import { HooklineError } from '../../../../src/base/errors.ts';
import { formatEndedCall } from '../../../../src/cli/chat/render/report.ts';
import { ActivityLine } from '../../../../src/cli/chat/render/activity-line.ts';
import { formatProblem, toForeignScreenText } from '../../../../src/cli/chat/render/format-text.ts';
import { configureColors } from '../../../../src/cli/output/colors.ts';

const CALL = { sessionId: 's', agentId: 'a', parentAgentId: null, callId: '1', durationMs: 1 };

it('shows no more activity once it has ended', () => {
  const outputs: (string | null)[] = [];
  const doing = new ActivityLine((text) => outputs.push(text));
  doing.set('leaving …');
  doing.end();
  doing.set('thinking …');
  doing.observe({ type: 'end', hook: 'slow', event: 'SessionStart' });
  expect(outputs).toEqual(['leaving …']);
});

it('prints what went wrong and what to do in sentences', () => {
  const error = (message: string): HooklineError =>
    new HooklineError('SESSION_UNKNOWN', { message, hint: 'Name another.' });
  expect(formatProblem(error('there is none'))).toBe('there is none. Name another.');
  expect(formatProblem(error('There is none.'))).toBe('There is none. Name another.');
});

it('lets no colour codes of others pass, also where ours are on', () => {
  configureColors(true, {});
  try {
    expect(toForeignScreenText('\u001B[31mred\u001B[39m\tand\n\u202Eback').split('\n')).toEqual([
      String.raw`\u{1b}[31mred\u{1b}[39m    and`,
      String.raw`\u{202e}back`,
    ]);
  } finally {
    configureColors(false, {});
  }
});

it('prints questions without their JSON, and an error without its tags', () => {
  const questions = [{ question: 'Which?', header: 'W', options: [], multiSelect: false }];
  const endEvent = {
    ...CALL,
    type: 'tool-end',
    tool: 'AskUserQuestion',
    deniedBy: null,
    question: null,
  } as const;
  const dismissed = { response: null, text: 'The person dismissed it.', success: false };
  expect(formatEndedCall({ ...endEvent, input: { questions }, output: dismissed }, '').head).toBe(
    '✗ Which?: The person dismissed it.',
  );
  const questionEvent = {
    ...endEvent,
    tool: 'ask_followup_question',
    input: { question: 'Which?' },
  };
  const answered = {
    response: { questions, answers: { 'Which?': 'That' } },
    text: 'Which?\n→ That',
    success: true,
  };
  expect(formatEndedCall({ ...questionEvent, output: answered }, '').head).toBe('• Which? → That');
  const aborted = { response: null, text: '<error>It was aborted</error>', success: false };
  const bash = { ...endEvent, tool: 'Bash', input: { command: 'ls' }, output: aborted };
  expect(formatEndedCall(bash, '')).toEqual({
    head: '✗ Bash ls: It was aborted',
    details: ['It was aborted'],
  });
});
