import { expect, test } from 'vitest';
import { ClaudeCodec, decode, encode } from '../../../src/dialects/claude/codec.ts';
import type { ClaudeSession } from '../../../src/dialects/claude/session.ts';
import { bash, MOMENT } from '../../hooks/handlers.ts';
import { httpEntry } from './handlers/handler-entries.ts';
import { inputOf, specific } from './output/outputs.ts';

const SESSION: ClaudeSession = {
  startDirectory: '/w',
  home: null,
  stateDirectory: null,
  isAttended: false,
  awaitsRewake: true,
  env: {},
  settingsEnv: {},
  machine: { platform: 'linux', findProgram: () => null },
  untrusted: [],
};

function inputWithTranscript(transcriptPath: string | null) {
  const input = inputOf(bash('ls'), 'Bash');
  return { ...input, event: { ...MOMENT, ...input.event, transcriptPath } };
}

test('without a session the payload is the one that hooks of a session get', () => {
  const input = inputWithTranscript('/t.jsonl');
  expect(encode(input)).toBe(new ClaudeCodec(SESSION).encode('PreToolUse', input));
  expect(encode(input)).toContain('"transcript_path":"/t.jsonl"');
});

test('without a session an answer means what it means to hooks of a session', () => {
  const input = inputWithTranscript('/t.jsonl');
  const fields = { permissionDecision: 'deny', permissionDecisionReason: 'no' };
  const stdout = JSON.stringify(specific('PreToolUse', fields));
  const answer = decode(input, { stdout, stderr: '', exitCode: 0 });
  expect(answer).toEqual(new ClaudeCodec(SESSION).decodeText(httpEntry({}), input, stdout));
  expect(answer).toMatchObject({ decision: { effect: 'deny', reason: 'no' } });
});

test('a transcript that cannot be written is noted for hooks of a session only', () => {
  const input = inputWithTranscript(null);
  const codec = new ClaudeCodec(SESSION);
  codec.encode('PreToolUse', input);
  expect(codec.decodeText(httpEntry({}), input, '{}').notes).toHaveLength(1);
  expect(encode(input)).toContain('"transcript_path":""');
  expect(decode(input, { stdout: '{}', stderr: '', exitCode: 0 }).notes).toEqual([]);
});

test('an event that Claude Code does not have has no payload and no answer', () => {
  const input = inputOf({ name: 'RunStart', prompt: 'p' });
  expect(encode(input)).toBeNull();
  expect(decode(input, { stdout: '', stderr: 'no', exitCode: 2 })).toEqual({});
});
