import { expect } from 'vitest';
import { command, group, hooks } from '../../claude-config/fixture.ts';
import { createRecorderCommand } from '../hook-programs.ts';
import type { ModelAnswer, WireRequest } from '../messages-server.ts';
import { bashCalls, type HostGroup, play } from '../play.ts';
import { readAllText, listRecordedEvents, readNewText } from '../requests.ts';

const says = (event: string, fields: object, more: object = {}): string =>
  `echo '${JSON.stringify({ ...more, hookSpecificOutput: { hookEventName: event, ...fields } })}'`;
const recorder = (name: string): object => group([command(createRecorderCommand(name))]);
const calls = (name: string, input: object): ModelAnswer => ({ calls: [{ name, input }] });

/** From the description of Claude's hooks, not recorded as cases. */
export const asynchronous: HostGroup = {
  name: '24-async',
  cases: [
    { name: 'the model reads it with a later request', run: answersLater },
    { name: 'asyncRewake is waited for without a user', run: waitsWithoutUser },
    { name: 'the end of the run ends it', run: endsWithRun },
  ],
};

/** A command that ends when the file is there, or after half a minute. */
function untilThere(file: string): string {
  return `i=0; while [ ! -s ${file} ] && [ $i -lt 600 ]; do sleep 0.05; i=$((i+1)); done`;
}

async function answersLater(): Promise<void> {
  const text = `${says('PreToolUse', { permissionDecision: 'deny', additionalContext: 'late ctx' }, { systemMessage: 'late msg' })}; echo done > late.done`;
  const { requests, result } = await play({
    prompt: 'go',
    settings: hooks('PreToolUse', [
      command(text, { async: true, if: 'Bash(echo first)' }),
      command('echo plain text is dropped', { async: true }),
    ]),
    answer: (request, index) => {
      if (index === 0) return calls('Bash', { command: `echo first; ${untilThere('late.done')}` });
      const isTold = JSON.stringify(request.messages).includes('late ctx\\n');
      return isTold ? { text: 'final' } : calls('Bash', { command: `echo turn ${index}` });
    },
  });
  const all = readAllText(requests.at(-1)).join('\n');
  for (const late of ['late ctx', 'late msg']) {
    const reminder = `<system-reminder>\n${late}\n(from claude:user:PreToolUse:echo)\n</system-reminder>`;
    expect(all.split(reminder).length - 1).toBe(1);
  }
  expect(all).not.toContain('plain text is dropped');
  expect({ ending: result.ending, denials: result.denials }).toEqual({
    ending: 'done',
    denials: [],
  });
}

async function waitsWithoutUser(): Promise<void> {
  const { requests } = await play({
    prompt: 'go',
    settings: hooks('PreToolUse', [command('sleep 0.3; : > woken', { asyncRewake: true })]),
    answer: bashCalls(['ls woken']),
  });
  expect(readNewText(requests[1])).toBe('[TOOL_RESULT] woken');
}

async function endsWithRun(): Promise<void> {
  const { read, result } = await play({
    prompt: 'go',
    settings: hooks('PreToolUse', [command('echo $$ > pid; exec sleep 300', { async: true })]),
    answer: bashCalls([untilThere('pid')]),
  });
  expect(result.text).toBe('final');
  const pid = Number(read('pid'));
  expect(pid).toBeGreaterThan(1);
  expect(isAlive(pid)).toBe(false);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

export const unfit: HostGroup = {
  name: '41-unfit',
  cases: [
    { name: 'a call that cannot be made reaches hooks of PostToolBatch only', run: asksNoUser },
  ],
};

async function asksNoUser(): Promise<void> {
  const turns = [
    calls('Nope', {}),
    calls('Bash', {}),
    calls('Edit', { file_path: 'a.txt', old_string: 'x', new_string: 'y' }),
    calls('Read', { file_path: 'a.txt' }),
    calls('Edit', { file_path: 'a.txt', old_string: 'not there', new_string: 'y' }),
    calls('Bash', { command: 'echo denied' }),
  ];
  const played = await play({
    prompt: 'go',
    files: { 'a.txt': 'x\n' },
    settings: {
      hooks: {
        PreToolUse: [
          recorder('pre'),
          group([command('echo no >&2; exit 2', { if: 'Bash(echo denied)' })], 'Bash'),
        ],
        PostToolUse: [recorder('post')],
        PostToolUseFailure: [recorder('failure')],
        PostToolBatch: [recorder('batch')],
      },
    },
    answer: (_request, index) => turns[index] ?? { text: 'final' },
  });
  expect(listRecordedEvents(played)).toEqual([
    'PostToolBatch:batch',
    'PostToolBatch:batch',
    'PostToolBatch:batch',
    'PreToolUse:pre',
    'PostToolUse:post',
    'PostToolBatch:batch',
    'PostToolBatch:batch',
    'PreToolUse:pre',
    'PostToolBatch:batch',
  ]);
  const answers = played.requests.slice(1).map(readNewText);
  expect(answers.map((each) => each.startsWith('[TOOL_RESULT ERR]'))).toEqual(
    turns.map((_turn, index) => index !== 3),
  );
}

const ORDER = { description: 'look', prompt: 'SUB look', subagent_type: 'general-purpose' };

function isSubagents({ messages }: WireRequest): boolean {
  return JSON.stringify(messages[0]).includes('SUB look');
}

export const subagents: HostGroup = {
  name: '10-task-alias',
  cases: [
    { name: 'a sub-agent by its old name, and its hooks in order', run: runsSubagent },
    { name: 'a sub-agent that a hook keeps from ending', run: keepsSubagent },
  ],
};

/** One turn of the session that starts the sub-agent, and the turns of the sub-agent. */
function withSubagent(tool: string, own: readonly ModelAnswer[]) {
  let turns = 0;
  let ownTurns = 0;
  return (request: WireRequest): ModelAnswer => {
    if (isSubagents(request)) {
      ownTurns += 1;
      return own[ownTurns - 1] ?? { text: 'SUB done' };
    }
    turns += 1;
    return turns === 1 ? calls(tool, ORDER) : { text: 'final' };
  };
}

async function runsSubagent(): Promise<void> {
  const played = await play({
    prompt: 'go',
    settings: {
      hooks: {
        PreToolUse: [
          group([command(createRecorderCommand('task'))], 'Task'),
          group([command(createRecorderCommand('bash'))], 'Bash'),
        ],
        SubagentStart: [
          recorder('start'),
          group([command(says('SubagentStart', { additionalContext: 'sub ctx' }))]),
        ],
        SubagentStop: [recorder('stop')],
        PostToolUse: [group([command(createRecorderCommand('post'))], '^Task$')],
        PostToolBatch: [recorder('batch')],
      },
    },
    answer: withSubagent('Task', [calls('Bash', { command: 'echo sub' })]),
  });
  expect(listRecordedEvents(played)).toEqual([
    'PreToolUse:task',
    'SubagentStart:start',
    'PreToolUse:bash',
    'PostToolBatch:batch',
    'SubagentStop:stop',
    'PostToolUse:post',
    'PostToolBatch:batch',
  ]);
  const { payloads: reports, requests } = played;
  expect([reports[0], reports[5]].map((each) => each?.payload['tool_name'])).toEqual(['Agent', 'Agent']);
  expect(reports.at(-1)?.payload['tool_calls']).toMatchObject([{ tool_name: 'Task' }]);
  expect(reports.map(({ payload }) => payload['agent_type'] ?? null)).toEqual([
    null,
    'general-purpose',
    'general-purpose',
    'general-purpose',
    'general-purpose',
    null,
    null,
  ]);
  expect(readNewText(requests.find(isSubagents))).toBe(
    '<system-reminder>\nSubagentStart hook additional context: sub ctx\n(from claude:user:SubagentStart:echo)\n</system-reminder>\n\nSUB look',
  );
  expect(readNewText(requests.at(-1))).toMatch(/^\[TOOL_RESULT\] SUB done/u);
}

async function keepsSubagent(): Promise<void> {
  const text = `if grep -q '"stop_hook_active":false'; then echo "sub stderr" >&2; exit 2; fi`;
  const { requests, payloads: reports } = await play({
    prompt: 'go',
    settings: {
      hooks: {
        SubagentStop: [group([command(text), command(createRecorderCommand('stop'))])],
        Stop: [recorder('end')],
      },
    },
    answer: withSubagent('Agent', []),
  });
  const own = requests.filter(isSubagents);
  expect(own.slice(1).map(readNewText)).toEqual([`Stop hook feedback:\n[${text}]: sub stderr`]);
  expect(reports.map(({ name, payload }) => [name, payload['stop_hook_active']])).toEqual([
    ['stop', false],
    ['stop', true],
    ['end', false],
  ]);
}

export const tasks: HostGroup = {
  name: 'tasks',
  cases: [{ name: 'a task that a hook does not let begin, or end', run: keepsTasks }],
};

/** A refused task is an error; one that may not end yet is not. */
async function keepsTasks(): Promise<void> {
  const created = 'grep -q NEVER && { echo "not this one" >&2; exit 2; } || true';
  const completed = 'echo "not yet" >&2; exit 2';
  const turns = [
    calls('TaskCreate', { subject: 'NEVER', description: 'x' }),
    calls('TaskCreate', { subject: 'fine', description: 'x' }),
    calls('TaskUpdate', { taskId: '2', status: 'completed' }),
  ];
  const { requests, payloads: reports } = await play({
    prompt: 'go',
    settings: {
      hooks: {
        TaskCreated: [group([command(created)])],
        TaskCompleted: [group([command(completed)])],
        PostToolUse: [group([command(createRecorderCommand('post'))], 'TaskUpdate')],
      },
    },
    answer: (_request, index) => turns[index] ?? { text: 'final' },
  });
  expect([readNewText(requests[1]), readNewText(requests[3])]).toEqual([
    `[TOOL_RESULT ERR] TaskCreated hook feedback:\n[${created}]: not this one`,
    `[TOOL_RESULT] TaskCompleted hook feedback:\n[${completed}]: not yet`,
  ]);
  expect(reports[0]?.payload['tool_response']).toMatchObject({ success: false, taskId: '2' });
}
