import { expect } from 'vitest';
import { command, group } from '../../claude-config/fixture.ts';
import { fieldsAt, listAt, observed } from '../../claude-config/recording.ts';
import { createRecorderCommand } from '../hook-programs.ts';
import type { ModelAnswer, WireRequest } from '../messages-server.ts';
import { bashCalls, type HostGroup, type Played, sharedScene } from '../play.ts';

const yaml = (event: string, names: readonly string[]): string =>
  [
    `  ${event}:`,
    ...(event === 'PreToolUse' ? ['    - matcher: Bash', '      hooks:'] : ['    - hooks:']),
    ...names.flatMap((name) => [
      '        - type: command',
      `          command: '${createRecorderCommand(name)}'`,
      ...(name.endsWith('once') ? ['          once: true'] : []),
    ]),
    '',
  ].join('\n');

const SKILL = `---
name: secure
description: Looks at commands.
hooks:
${yaml('PreToolUse', ['skillhook', 'skillonce'])}${yaml('Stop', ['skillstop'])}---
Be careful.
`;
const AGENT = `---
name: rev
description: Reviews.
hooks:
${yaml('PreToolUse', ['agenthook'])}${yaml('Stop', ['agentstop'])}---
Review it.
`;
const settingsHook = (name: string): object => group([command(createRecorderCommand(name), { once: true })]);

const WORKSPACE = {
  '.claude/skills/secure/SKILL.md': SKILL,
  '.claude/agents/rev.md': AGENT,
  '.claude/settings.json': {
    hooks: {
      UserPromptSubmit: [settingsHook('ups')],
      UserPromptExpansion: [settingsHook('upe')],
      PreToolUse: [group([command(createRecorderCommand('settingsonce'), { once: true })], 'Bash')],
    },
  },
};

const bash = (text: string): ModelAnswer => ({
  calls: [{ name: 'Bash', input: { command: text } }],
});

/** Of the session; those of the sub-agent know nothing of its prompt. */
const TURNS: readonly ModelAnswer[] = [
  bash('echo before'),
  { calls: [{ name: 'Skill', input: { skill: 'secure' } }] },
  bash('echo after1'),
  bash('echo after2'),
  {
    calls: [
      { name: 'Agent', input: { description: 'look', prompt: 'SUB look', subagent_type: 'rev' } },
    ],
  },
];

function isSubagents(request: WireRequest): boolean {
  return JSON.stringify(request.messages[0]).includes('SUB look');
}

const session = sharedScene(() => {
  let turns = 0;
  let subTurns = 0;
  return {
    prompt: 'ORACLE one',
    files: WORKSPACE,
    isTrusting: true,
    answer: (request) => {
      if (isSubagents(request)) {
        subTurns += 1;
        return subTurns === 1 ? bash('echo sub') : { text: 'reviewed' };
      }
      turns += 1;
      return TURNS[turns - 1] ?? { text: 'final' };
    },
  };
});

const typed = sharedScene(() => ({
  prompt: '/secure arg1 arg2',
  files: WORKSPACE,
  isTrusting: true,
  answer: bashCalls(['echo in-slash']),
}));

type Row = readonly [string, string, unknown, unknown, boolean];

/** Event, hook, command, agent, and whether the hook has the skill's directory. */
function rowsOf({ payloads: reports, workspace }: Played): readonly Row[] {
  return reports.map(({ name, payload, pluginRoot }) => [
    String(payload['hook_event_name']),
    name,
    payload['tool_input'] === undefined ? null : fieldsAt(payload, 'tool_input')['command'],
    payload['agent_type'] ?? null,
    pluginRoot === `${workspace.root}/.claude/skills/secure`,
  ]);
}

/** The rows of the recorded session, or of the one with the typed command. */
function recordedRows(part: 'session' | 'typed'): readonly Row[] {
  const rows = listAt(observed('27-frontmatter')).map((each): Row => {
    const [event, name, about, agent, env] = listAt(each);
    const command = typeof about === 'string' && about !== '' ? about : null;
    return [String(event), String(name), command, agent, 'CLAUDE_PLUGIN_ROOT' in fieldsAt(env)];
  });
  const second = rows.findLastIndex(([event]) => event === 'UserPromptSubmit');
  return part === 'session' ? rows.slice(0, second) : rows.slice(second);
}

/** Of one hook: the order of hooks that run at the same time is not defined. */
function rowsFor(rows: readonly Row[], name: string): readonly Row[] {
  return rows.filter(([, hook]) => hook === name);
}

const IN_SUBAGENT: Row = ['PreToolUse', 'skillhook', 'echo sub', 'rev', true];

export const frontMatter: HostGroup = {
  name: '27-frontmatter',
  cases: [
    ...['ups', 'settingsonce', 'skillonce', 'agenthook', 'agentstop', 'skillstop'].map((name) => ({
      name,
      run: async () => {
        expect(rowsFor(rowsOf(await session()), name)).toEqual(
          rowsFor(recordedRows('session'), name),
        );
      },
    })),
    { name: 'skillhook', run: guardsSubagents },
    { name: 'upe', run: runsWithTypedCommand },
    { name: 'upe: the payload of the hook', run: sendsExpansion },
  ],
};

/** Here a skill's hooks also look at what its sub-agents do. */
async function guardsSubagents(): Promise<void> {
  expect(rowsFor(rowsOf(await session()), 'skillhook')).toEqual([
    ...rowsFor(recordedRows('session'), 'skillhook'),
    IN_SUBAGENT,
  ]);
}

async function runsWithTypedCommand(): Promise<void> {
  const byName = (rows: readonly Row[]): readonly string[] =>
    rows.map((row) => JSON.stringify(row)).toSorted();
  expect(byName(rowsOf(await typed()))).toEqual(byName(recordedRows('typed')));
}

async function sendsExpansion(): Promise<void> {
  const { payloads: reports } = await typed();
  const payload = reports.find(({ name }) => name === 'upe')?.payload ?? {};
  const recorded = listAt(observed('27-frontmatter')).find((row) => listAt(row)[1] === 'upe');
  const expected = fieldsAt(listAt(recorded)[2]);
  const own = ['session_id', 'transcript_path', 'cwd', 'prompt_id'];
  const without = (fields: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(fields).filter(([key]) => !own.includes(key)));
  expect(without(payload)).toEqual(without(expected));
}
