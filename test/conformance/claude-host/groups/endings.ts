import { expect } from 'vitest';
import { command, group, hooks } from '../../claude-config/fixture.ts';
import { fieldsAt, listAt, observed } from '../../claude-config/recording.ts';
import { createRecorderCommand, NODE_RECORDER } from '../hook-programs.ts';
import { bashCalls, type HostGroup, play } from '../play.ts';
import { attributed, listRecordedEvents, readNewText, readRecordedText } from '../requests.ts';

const STOPS = '"continue":false,"stopReason":"enough"';
const decides = (decision: string): string =>
  `"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"${decision}"}`;

const BEFORE: Readonly<Record<string, string>> = {
  cont_false: `{${STOPS}}`,
  cont_false_allow: `{${STOPS},${decides('allow')}}`,
};

/** With a recorder on every event that must, or must not, come after the call. */
const withRecorders = (event: string, text: string): object => ({
  hooks: {
    PreToolUse: [group([command(createRecorderCommand('pre'))])],
    PostToolUse: [group([command(createRecorderCommand('post'))])],
    PostToolBatch: [group([command(createRecorderCommand('batch'))])],
    Stop: [group([command(createRecorderCommand('stop'))])],
    ...(event === 'PreToolUse'
      ? { PreToolUse: [group([command(createRecorderCommand('pre')), command(text)])] }
      : { [event]: [group([command(text)])] }),
  },
});

export const preStop: HostGroup = {
  name: '04-pre-stop',
  cases: [
    ...Object.entries(BEFORE).map(([name, out]) => ({ name, run: () => runsAndEnds(name, out) })),
    { name: 'defer', run: defers },
  ],
};

/** The call runs, the model is not asked again, and Stop is not fired. */
async function runsAndEnds(name: string, out: string): Promise<void> {
  const played = await play({
    prompt: `go RUN_${name}`,
    settings: withRecorders('PreToolUse', `echo '${out}'`),
    answer: bashCalls([`touch ran_${name}`]),
  });
  const { code, result, requests } = played;
  expect({ code, ending: result.ending, reason: result.reason, text: result.text }).toEqual({
    code: 1,
    ending: 'stopped_by_hook',
    reason: 'enough',
    text: '',
  });
  expect(result.denials).toEqual([]);
  expect(requests.map(readNewText)).toEqual([`go RUN_${name}`]);
  expect(played.has(`ran_${name}`)).toBe(true);
  expect(listRecordedEvents(played)).toEqual(['PreToolUse:pre', 'PostToolUse:post']);
}

/** The call waits; whoever resumes the session is asked again, and then it runs. */
async function defers(): Promise<void> {
  const answer = bashCalls(['echo CASE_defer']);
  const first = await play({
    prompt: 'go RUN_defer',
    settings: withRecorders('PreToolUse', `echo '{${decides('defer')}}'`),
    answer,
  });
  const recorded = fieldsAt(listAt(observed('04-pre-stop'), 'res')[2]);
  const call = { ...fieldsAt(recorded, 'deferred_tool_use'), id: 'toolu_mock0001' };
  expect({
    code: first.code,
    ending: first.result.ending,
    deferred: first.result.deferred,
  }).toEqual({ code: recorded['code'], ending: recorded['terminal_reason'], deferred: call });
  expect(first.requests.length).toBe(1);
  expect(listRecordedEvents(first)).toEqual(['PreToolUse:pre']);

  const second = await play({
    place: first.workspace,
    settings: withRecorders('PreToolUse', `echo '{${decides('allow')}}'`),
    args: ['--resume', first.result.sessionId],
    answer: bashCalls([]),
  });
  expect({ code: second.code, text: second.result.text }).toEqual({ code: 0, text: 'final' });
  expect(second.requests.map(readNewText)).toEqual(['[TOOL_RESULT] CASE_defer']);
  expect(listRecordedEvents(second).slice(1)).toEqual([
    'PreToolUse:pre',
    'PostToolUse:post',
    'PostToolBatch:batch',
    'Stop:stop',
  ]);
  const [again] = second.payloads.slice(1);
  expect(again?.payload['tool_use_id']).toBe('toolu_mock0001');
}

const REC: Readonly<Record<string, string>> = {
  exit2: `--err "stop stderr" --exit 2`,
  block: `--out '{"decision":"block","reason":"keep going"}'`,
  ctx: `--out '{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"stop ctx"}}'`,
  exit1: `--err "stop err" --exit 1`,
  cont: `--out '{"continue":false,"stopReason":"enough"}'`,
  sys: `--out '{"systemMessage":"stop sys"}'`,
  stdout: `--out "plain stop"`,
  block_noreason: `--out '{"decision":"block"}'`,
};

export const stop: HostGroup = {
  name: '09-stop',
  cases: listAt(observed('09-stop')).map((each) => {
    const recorded = fieldsAt(each);
    return { name: String(recorded['n']), run: () => wantsToEnd(recorded) };
  }),
};

async function wantsToEnd(recorded: Readonly<Record<string, unknown>>): Promise<void> {
  const name = String(recorded['n']);
  const text = `[ "$STOPCASE" = ${name} ] || exit 0; node rec.mjs ${name} ${REC[name] ?? ''}`;
  const { code, result, requests, payloads: reports, news } = await play({
    prompt: 'go',
    settings: hooks('Stop', [command(text)]),
    files: { 'rec.mjs': NODE_RECORDER },
    env: { STOPCASE: name },
    answer: (_request, index) => ({ text: `answer ${index + 1}` }),
  });
  expect(requests.length).toBe(recorded['nreq']);
  expect(reports.map(({ payload }) => payload['stop_hook_active'])).toEqual(recorded['active']);
  const records = listAt(recorded, 'seen').map((each) => feedbackOnce(readRecordedText(each)));
  expect(requests.slice(1, 1 + records.length).map(readNewText)).toEqual(
    records.map((each) => attributed(each, 'claude:user:Stop:rec.mjs')),
  );
  expect({ code, text: result.text, ending: result.ending, reason: result.reason }).toEqual({
    code: recorded['code'],
    text: `answer ${requests.length}`,
    ending: 'done',
    reason: name === 'cont' ? 'enough' : null,
  });
  const warnings = news.filter(({ type, level }) => type === 'notice' && level === 'warning');
  expect(warnings.map((each) => String(each['text']).includes('9 times in a row'))).toEqual(
    requests.length > 1 ? [true] : [],
  );
}

/** The recording has the reason twice, in a reminder and as feedback. */
function feedbackOnce(text: string): string {
  return text.replace(
    /^<system-reminder>\nStop hook blocking error[\s\S]*?<\/system-reminder>\n+/u,
    '',
  );
}

interface Ending {
  readonly event: 'PreToolUse' | 'UserPromptExpansion';
  readonly command: string;
  readonly prompt: string;
}

const ENDINGS: Readonly<Record<string, Ending>> = {
  pre_cont: {
    event: 'PreToolUse',
    command: `echo '{"continue":false,"stopReason":"s"}'`,
    prompt: 'go',
  },
  pre_cont_allow: {
    event: 'PreToolUse',
    command: `echo '{"continue":false,"stopReason":"s",${decides('allow')}}'`,
    prompt: 'go',
  },
  pre_cont_exit2: {
    event: 'PreToolUse',
    command: `echo '{"continue":false,"stopReason":"s"}'; echo e >&2; exit 2`,
    prompt: 'go',
  },
  upe_block: {
    event: 'UserPromptExpansion',
    command: 'echo "no hello" >&2; exit 2',
    prompt: '/hello w',
  },
  upe_stdout: { event: 'UserPromptExpansion', command: 'echo UPE-PLAIN', prompt: '/hello w' },
};

const EXPANSION = 'claude:user:UserPromptExpansion:echo';

export const continueFalse: HostGroup = {
  name: '51-contfalse',
  cases: listAt(observed('51-contfalse'), 'res').map((row) => {
    const [name, , text, answers] = listAt(row);
    return {
      name: String(name),
      run: () => endsAs(String(name), { text: String(text), answers: listAt(answers) }),
    };
  }),
};

interface RecordedEnd {
  readonly text: string;
  readonly answers: readonly unknown[];
}

async function endsAs(name: string, recorded: RecordedEnd): Promise<void> {
  const { event, command: text, prompt } = ENDINGS[name] ?? NO_ENDING;
  const played = await play({
    prompt,
    settings: hooks(event, [command(text)]),
    files: { '.claude/commands/hello.md': 'Say hello to $ARGUMENTS.' },
    answer: bashCalls([`touch ran_${name}`]),
  });
  const { result, requests, news, code } = played;
  const inputs = recorded.answers.map((each) => answerIn(String(each)));
  expect(news.filter(({ type }) => type === 'tool-end').map(answerOf)).toEqual(inputs);
  expect(played.has(`ran_${name}`)).toBe(inputs.some(({ success }) => success));
  const { ending, reason } = result;
  expect({ code, ending, reason, text: result.text, requests: requests.length }).toEqual(
    endOf(name, recorded),
  );
  if (name !== 'upe_stdout') return;
  const reminderText = `${formatReminder(listAt(observed('51-contfalse'), 'upe'))}\n\nSay hello to w.`;
  expect(readNewText(requests[0])).toBe(reminderText);
}

const NO_ENDING: Ending = { event: 'PreToolUse', command: '', prompt: '' };

function endOf(name: string, { text }: RecordedEnd): object {
  switch (name) {
    case 'upe_stdout':
      return { code: 0, ending: 'done', reason: null, text, requests: 2 };
    case 'upe_block': {
      const reason = text.replace('\n\n\n', '\n\n');
      return { code: 1, ending: 'refused', reason, text: '', requests: 0 };
    }
    default:
      return { code: 1, ending: 'stopped_by_hook', reason: 's', text, requests: 1 };
  }
}

function formatReminder(recorded: readonly unknown[]): string {
  const [line] = recorded.filter((each) => each !== null).map(String);
  const text = (line ?? '').replace(String.raw`\n`, '');
  return `<system-reminder>\n${text}\n(from ${EXPANSION})\n</system-reminder>`;
}

interface Answered {
  readonly text: string;
  readonly success: boolean;
}

function answerIn(written: string): Answered {
  const [block] = listAt(JSON.parse(written)).map((each) => fieldsAt(each));
  return { text: String(block?.['content']).trim(), success: block?.['is_error'] !== true };
}

function answerOf(event: Readonly<Record<string, unknown>>): Answered {
  const { text, success } = fieldsAt(event, 'output');
  return { text: String(text).trim(), success: success === true };
}
