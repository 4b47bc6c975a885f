import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { command, group } from '../../claude-config/fixture.ts';
import { fieldsAt, listAt, observed } from '../../claude-config/recording.ts';
import { createRecorderCommand } from '../hook-programs.ts';
import { bashCalls, type HostGroup, sharedScene } from '../play.ts';
import { attributed, readNewText, readRecordedText } from '../requests.ts';

const LONG = (count: number): string => `"head-$(head -c ${count} /dev/zero | tr '\\0' x)-tail"`;
const prints = (json: string, count: number): string => `printf '${json}' ${LONG(count)}`;
const on = (call: string, text: string): object => command(text, { if: `Bash(${call})` });

const CAPS = ['exit2 stderr', 'deny reason', 'systemMessage', 'additionalContext', 'block reason'];

const capped = sharedScene(() => ({
  prompt: 'go',
  settings: {
    hooks: {
      PreToolUse: [
        group([
          on('echo one', `echo ${LONG(20_000)} >&2; exit 2`),
          on(
            'echo two',
            prints(
              '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"%s"}}',
              20_000,
            ),
          ),
          on('echo three', prints('{"systemMessage":"%s"}', 20_000)),
        ]),
      ],
      PostToolUse: [
        group([
          on(
            'echo four',
            prints(
              '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"%s"}}',
              30_000,
            ),
          ),
          on('echo five', prints('{"decision":"block","reason":"%s"}', 30_000)),
          command(createRecorderCommand('post')),
        ]),
      ],
    },
  },
  answer: bashCalls([
    ...['one', 'two', 'three', 'four', 'five'].map((name) => `echo ${name}`),
    String.raw`head -c 200000 /dev/zero | tr '\0' y`,
  ]),
}));

export const caps: HostGroup = {
  name: '38-caps',
  cases: [
    ...CAPS.map((name, index) => ({ name, run: () => sendsPreview(index + 1) })),
    { name: 'tool output', run: () => sendsPreview(CAPS.length + 1) },
    { name: 'tool output: hooks get a preview, and the file has all of it', run: keepsWhole },
  ],
};

async function sendsPreview(index: number): Promise<void> {
  const { requests } = await capped();
  const [recorded = ''] = listAt(listAt(observed('38-caps'), 'seen')[index]).map(String);
  const id = index === 4 ? 'claude:user:PostToolUse:printf' : 'claude:user:PostToolUse:printf~2';
  expect(shortened(readNewText(requests[index]))).toBe(attributed(withoutBudget(recorded), id));
}

/** As the recording shortens long texts and names places. */
function shortened(text: string): string {
  return text
    .replaceAll(/([xy])\1{99,}/gu, (run, letter: string) => `<${letter}*${run.length}>`)
    .replaceAll(/saved to: \S+/gu, 'saved to: FILE');
}

/** The recording begins without its bracket and ends with how many tokens are left. */
function withoutBudget(recorded: string): string {
  const [text = ''] = recorded.split('\n\n<system-reminder>\n<total_tokens>');
  return `[${text}`.replaceAll(/saved to: \S+/gu, 'saved to: FILE');
}

async function keepsWhole(): Promise<void> {
  const { payloads: reports, workspace } = await capped();
  const facts = reports.map(({ payload }) => {
    const { stdout, ...rest } = fieldsAt(payload, 'tool_response');
    return [
      String(stdout).length,
      ['stdout', ...Object.keys(rest)],
      rest['persistedOutputSize'] ?? null,
    ];
  });
  const recorded = listAt(observed('38-caps'), 'big').map((row) => {
    const [, length, keys, , size] = listAt(row);
    return [length, keys, size];
  });
  expect(facts).toEqual(recorded);
  const file = String(fieldsAt(reports.at(-1)?.payload, 'tool_response')['persistedOutputPath']);
  expect(file.startsWith(`${workspace.home}/.hookline/sessions/`)).toBe(true);
  expect(readFileSync(file, 'utf8')).toBe('y'.repeat(200_000));
}

const context = (event: string, text: string): string =>
  `echo '{"hookSpecificOutput":{"hookEventName":"${event}","additionalContext":"${text}"}}'`;

const misc = sharedScene(() => ({
  prompt: 'a',
  settings: {
    hooks: {
      PostToolUseFailure: [
        group([
          on('exit 3', context('PostToolUseFailure', 'fail ctx')),
          on('exit 4', 'echo "ptuf stderr" >&2; exit 2'),
          on('exit 5', `echo '{"decision":"block","reason":"ptuf block"}'`),
        ]),
      ],
      PostToolBatch: [
        group([
          command(`grep -q batchctx && ${context('PostToolBatch', 'batch ctx')} || true`),
          command('if grep -q batchstop; then echo enough >&2; exit 2; fi'),
        ]),
      ],
      MessageDisplay: [
        group([
          command(
            `echo '{"hookSpecificOutput":{"hookEventName":"MessageDisplay","displayContent":"DISPLAYED"}}'`,
          ),
        ]),
      ],
      Stop: [group([command(createRecorderCommand('stop'))])],
    },
  },
  answer: (_request, index) => {
    const text = ['exit 3', 'exit 4', 'exit 5', 'echo batchctx', 'echo batchstop'][index] ?? '';
    const call = { calls: [{ name: 'Bash', input: { command: text } }] };
    return index === 3 ? { text: 'as the model wrote it', ...call } : call;
  },
}));

const SEEN: Readonly<Record<string, string>> = {
  'failure context': 'claude:user:PostToolUseFailure:echo',
  'failure exit2': 'claude:user:PostToolUseFailure:echo~2',
  'failure block': 'claude:user:PostToolUseFailure:echo~3',
  batchctx: 'claude:user:PostToolBatch:grep',
};

export const miscOut: HostGroup = {
  name: '39-misc-out',
  cases: [
    ...Object.entries(SEEN).map(([name, id], index) => ({
      name,
      run: async () => {
        const { requests } = await misc();
        const recorded = readRecordedText(listAt(observed('39-misc-out'), 'seen')[index + 1]);
        expect(readNewText(requests[index + 1])).toBe(
          attributed(recorded, id).replace('\n\n</system-reminder>', '\n</system-reminder>'),
        );
      },
    })),
    { name: 'batch stop', run: endsAfterBatch },
    { name: 'DISPLAYED', run: displays },
  ],
};

async function endsAfterBatch(): Promise<void> {
  const { result, requests, payloads: reports, code } = await misc();
  const { ending, reason } = result;
  expect({ code, ending, reason, requests: requests.length, stops: reports.length }).toEqual({
    code: 1,
    ending: 'stopped_by_hook',
    reason: '[if grep -q batchstop; then echo enough >&2; exit 2; fi]: enough',
    requests: 5,
    stops: 0,
  });
}

/** The user sees the hook's text; model and transcript keep the original. */
async function displays(): Promise<void> {
  const { news, requests, workspace, result } = await misc();
  const outputs = news.filter(({ type }) => type === 'message-end').map((each) => each['shown']);
  expect(outputs).toEqual(['', '', '', 'DISPLAYED', '']);
  const answers = requests.at(-1)?.messages.filter(({ role }) => role === 'assistant') ?? [];
  expect(JSON.stringify(answers)).toContain('as the model wrote it');
  const transcript = `${workspace.home}/.hookline/sessions/${result.sessionId}/${result.sessionId}.jsonl`;
  expect(readFileSync(transcript, 'utf8')).not.toContain('DISPLAYED');
}

const INPUTS: Readonly<Record<string, object>> = {
  Write: { file_path: 'b.txt', content: 'x' },
  Edit: { file_path: 'a.txt', old_string: 'x', new_string: 'y' },
  Read: { file_path: 'a.txt' },
  Agent: { description: 'look', prompt: 'look around' },
  Skill: { skill: 'secure' },
  Bash: { command: 'echo hi' },
};
const TOOLS = Object.keys(INPUTS);

const denials = (text: string) =>
  sharedScene(() => ({
    prompt: 'go',
    settings: {
      hooks: { PreToolUse: [group([command(text), command(createRecorderCommand('pre'))], TOOLS.join('|'))] },
    },
    files: {
      'a.txt': 'x',
      '.claude/skills/secure/SKILL.md': '---\nname: secure\ndescription: d\n---\nBe careful.\n',
    },
    answer: (_request, index) => {
      // A call that works in between: after six failures in a row the model gets another message.
      const order = [...TOOLS.slice(0, 3), 'Glob', ...TOOLS.slice(3)];
      const name = order[index];
      if (name === undefined) return { text: 'final' };
      return { calls: [{ name, input: INPUTS[name] ?? { pattern: '*' } }] };
    },
  }));

const JSON_DENY = denials(
  `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"JSON-DENY"}}'`,
);
const EXIT_2 = 'echo EXIT2 >&2; exit 2';
const EXIT_DENY = denials(EXIT_2);

/** In the recording the second run of Write was denied by the first hook, too. */
const WRITE = ['JSON-DENY', 'PreToolUse:Write hook error: [CMD]: EXIT2'];
const UNREAD = 'File has not been read yet. Read it first before writing to it.';
const OWN: Readonly<Record<string, readonly string[]>> = { Write: WRITE, Edit: [UNREAD, UNREAD] };

export const denyWording: HostGroup = {
  name: '46-denyfmt',
  cases: [
    ...TOOLS.map((tool, index) => ({ name: tool, run: () => denies(tool, index) })),
    { name: 'Edit: no hook is asked', run: asksNoUser },
  ],
};

async function denies(tool: string, index: number): Promise<void> {
  const at = index < 3 ? index + 1 : index + 2;
  const records = [await JSON_DENY(), await EXIT_DENY()].map(({ requests }) =>
    readNewText(requests[at]).replace(EXIT_2, 'CMD').replace('[TOOL_RESULT ERR] ', ''),
  );
  const row = listAt(observed('46-denyfmt')).find((each) => listAt(each)[0] === tool);
  const recorded = listAt(row)
    .slice(1)
    .map((text) => readRecordedText(text).replace('[TOOL_RESULT ERR] ', ''));
  expect(records).toEqual(OWN[tool] ?? recorded);
}

async function asksNoUser(): Promise<void> {
  const { payloads: reports } = await JSON_DENY();
  expect(reports.map(({ payload }) => payload['tool_name'])).toEqual(
    TOOLS.filter((tool) => tool !== 'Edit'),
  );
}
