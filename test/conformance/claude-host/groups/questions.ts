import { expect } from 'vitest';
import { command, group, hooks } from '../../claude-config/fixture.ts';
import { fieldsAt, listAt, observed } from '../../claude-config/recording.ts';
import { createRecorderCommand } from '../hook-programs.ts';
import type { WireRequest } from '../messages-server.ts';
import { bashCalls, type HostGroup, play, sharedScene } from '../play.ts';
import { readNewText, readRecordedText } from '../requests.ts';

interface Question {
  readonly prompt: string;
  readonly more: object;
  readonly answer: string;
}

const refusal = (reason: string): string => JSON.stringify({ ok: false, reason });

const QUESTIONS: Readonly<Record<string, Question>> = {
  ok: {
    prompt: String.raw`PK_ok Is it fine? $ARGUMENTS costs \$5`,
    more: {},
    answer: '{"ok":true,"reason":""}',
  },
  cont: {
    prompt: 'PK_cont no args placeholder',
    more: { continueOnBlock: true },
    answer: refusal('prompt no but continue'),
  },
  fence: {
    prompt: 'PK_fence $ARGUMENTS',
    more: { continueOnBlock: true, model: 'claude-opus-4-5' },
    answer: `\`\`\`json\n${refusal('fenced')}\n\`\`\``,
  },
  garbage: { prompt: 'PK_garbage $ARGUMENTS', more: {}, answer: 'I think it is fine.' },
  no: { prompt: 'PK_no $ARGUMENTS', more: {}, answer: refusal('prompt no') },
};
const NAMES = Object.keys(QUESTIONS);

function isQuestion(request: WireRequest): boolean {
  return readNewText(request).startsWith('PK_');
}

const questionScene = sharedScene(() => {
  const calls = bashCalls(NAMES.map((name) => `echo ${name}`));
  let turns = 0;
  return {
    prompt: 'go',
    settings: hooks(
      'PreToolUse',
      Object.entries(QUESTIONS).map(([name, { prompt, more }]) => ({
        type: 'prompt',
        prompt,
        if: `Bash(echo ${name})`,
        ...more,
      })),
    ),
    answer: (request) => {
      const [, name = ''] = /^PK_(\w+)/u.exec(readNewText(request)) ?? [];
      if (name !== '') return { text: QUESTIONS[name]?.answer ?? '' };
      turns += 1;
      return calls(request, turns - 1);
    },
  };
});

export const prompts: HostGroup = {
  name: '22-prompt',
  cases: [
    ...NAMES.slice(0, -1).map((name, index) => ({
      name,
      run: async () => {
        const main = (await questionScene()).requests.filter((request) => !isQuestion(request));
        const recorded = readRecordedText(listAt(observed('22-prompt'), 'seen')[index]);
        expect(readNewText(main[index + 1])).toBe(recorded);
      },
    })),
    { name: 'no', run: endsTurn },
    { name: 'ok: the request', run: asksWithoutTools },
    { name: 'ok: who is asked in which order', run: asksInOrder },
    { name: 'garbage: the user gets a message', run: reportsGarbage },
  ],
};

async function endsTurn(): Promise<void> {
  const { result, code } = await questionScene();
  const { ending, text } = result;
  const recorded = fieldsAt(observed('22-prompt'), 'result');
  expect({ code, ending, text }).toEqual({
    code: 1,
    ending: 'stopped_by_hook',
    text: recorded['result'],
  });
  const denied = listAt(recorded, 'permission_denials').map((each) => {
    const { tool_name: tool, tool_input: input } = fieldsAt(each);
    return { tool, input };
  });
  expect(result.denials.map(({ tool, input }) => ({ tool, input }))).toEqual(denied);
}

async function asksWithoutTools(): Promise<void> {
  const { requests } = await questionScene();
  const first = requests.find(isQuestion);
  const recorded = fieldsAt(observed('22-prompt'), 'firstHookReq');
  expect({
    model: first?.model,
    tools: first?.tools ?? [],
    thinking: first?.thinking,
    format: first?.output_config?.format,
    messages: first?.messages.length,
  }).toEqual({
    model: recorded['model'],
    tools: recorded['tools'],
    thinking: recorded['thinking'],
    format: fieldsAt(recorded, 'output')['format'],
    messages: 1,
  });
  const [payload = ''] = /\{.*\}/su.exec(readNewText(first)) ?? [];
  expect(readNewText(first)).toBe(`PK_ok Is it fine? ${payload} costs $5`);
  expect(JSON.parse(payload)).toMatchObject({
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'echo ok' },
    tool_use_id: 'toolu_mock0001',
    permission_mode: 'bypassPermissions',
  });
}

async function asksInOrder(): Promise<void> {
  const { requests } = await questionScene();
  const kinds = requests.map((request) => (isQuestion(request) ? 'hookllm' : 'main'));
  expect(kinds).toEqual(observedList('kinds'));
  expect(requests.filter(isQuestion).map(({ model }) => model)).toEqual(observedList('models'));
}

function observedList(key: string): readonly unknown[] {
  return listAt(observed('22-prompt'), key);
}

async function reportsGarbage(): Promise<void> {
  const { stderr } = await questionScene();
  expect(stderr).toMatch(/failed: claude:user:PreToolUse:\S+: .*I think it is fine/u);
}

export const agents: HostGroup = {
  name: '23-agent',
  cases: [
    { name: 'verify', run: verifies },
    { name: 'verify: at most 50 turns', run: givesUp },
  ],
};

const AGENT_SETTINGS = {
  hooks: {
    PreToolUse: [
      group([command(createRecorderCommand('pre'))]),
      group([{ type: 'agent', prompt: 'AK_verify check $ARGUMENTS' }], 'Bash'),
    ],
  },
};

function isAgents({ tools = [] }: WireRequest): boolean {
  return tools.some(({ name }) => name === 'StructuredOutput');
}

/** The agent hook reads a file first; hooks are fired only for the call that it judges. */
async function verifies(): Promise<void> {
  const calls = bashCalls(['echo hi']);
  let turns = 0;
  const { requests, result, payloads: reports, code, workspace } = await play({
    prompt: 'go',
    settings: AGENT_SETTINGS,
    files: { 'notes.txt': 'nothing to see' },
    answer: (request) => {
      if (isAgents(request)) {
        return readNewText(request).startsWith('AK_')
          ? { calls: [{ name: 'Read', input: { file_path: 'notes.txt' } }] }
          : {
              calls: [{ name: 'StructuredOutput', input: { ok: false, reason: 'agent says no' } }],
            };
      }
      turns += 1;
      return calls(request, turns - 1);
    },
  });
  const own = requests.filter(isAgents);
  expect(readNewText(own[0])).toMatch(/^AK_verify check \{"session_id":/u);
  expect(readNewText(own[1])).toContain('nothing to see');
  expect(JSON.stringify(own[0])).toContain(`${workspace.home}/.hookline/sessions/`);
  expect(own.map(({ model }) => model)).toEqual(['claude-sonnet-4-5', 'claude-sonnet-4-5']);
  const main = requests.filter((request) => !isAgents(request));
  expect(readNewText(main[1])).toBe(readRecordedText(listAt(observed('23-agent'), 'main')[0]));
  expect(reports.length).toBe(1);
  expect({ code, text: result.text, denied: result.denials.map(({ input }) => input) }).toEqual({
    code: 0,
    text: 'final',
    denied: [{ command: 'echo hi' }],
  });
}

async function givesUp(): Promise<void> {
  const calls = bashCalls(['echo hi']);
  let turns = 0;
  const { requests, stderr } = await play({
    prompt: 'go',
    settings: AGENT_SETTINGS,
    answer: (request) => {
      if (isAgents(request)) return { calls: [{ name: 'Glob', input: { pattern: '*.nowhere' } }] };
      turns += 1;
      return calls(request, turns - 1);
    },
  });
  expect(requests.filter(isAgents).length).toBe(50);
  const main = requests.filter((request) => !isAgents(request));
  expect(readNewText(main[1])).toBe('[TOOL_RESULT] hi');
  expect(stderr).toContain('no answer after 50 turns');
}
