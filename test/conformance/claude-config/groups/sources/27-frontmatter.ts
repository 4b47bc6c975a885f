import { expect } from 'vitest';
import { isRecord } from '../../../../../src/base/json.ts';
import { bash, command, type Group, records, type Setup, type OpenFixture } from '../../fixture.ts';

const TELL = records('$CLAUDE_PROJECT_DIR/ran.log', '$1', '${CLAUDE_PLUGIN_ROOT-none}');
const tells = (name: string): string => `sh "$CLAUDE_PROJECT_DIR/tell.sh" ${name}`;
const yaml = (event: string, name: string, more = ''): string =>
  `  ${event}:\n    - hooks:\n        - type: command\n          command: '${tells(name)}'\n${more}`;

const SKILL = `---
name: secure
description: Looks at commands.
hooks:
${yaml('PreToolUse', 'skillhook', `        - type: command\n          command: '${tells('skillonce')}'\n          once: true\n`)}${yaml('Stop', 'skillstop')}---
Be careful.
`;
const AGENT = `---
name: rev
description: Reviews.
hooks:
${yaml('PreToolUse', 'agenthook')}${yaml('Stop', 'agentstop')}---
Review it.
`;

const SKILL_FILE = '.claude/skills/secure/SKILL.md';
const AGENT_FILE = '.claude/agents/rev.md';
const both = (name: string): object => ({ hooks: [command(tells(name), { once: true })] });

const SETUP: Setup = {
  files: { 'tell.sh': TELL, [SKILL_FILE]: SKILL, [AGENT_FILE]: AGENT },
  project: {
    hooks: {
      UserPromptSubmit: [both('ups')],
      UserPromptExpansion: [both('upe')],
      PreToolUse: [both('settingsonce')],
    },
  },
};

/** The recorded session: before the skill, after it twice, in the sub-agent, at the end. */
async function fireRecordedSession(openFixture: OpenFixture): Promise<readonly (readonly unknown[])[]> {
  const { fire, recorded, root } = await openFixture(SETUP);
  const used = { skills: ['secure'] };
  const rev = { ...used, agent: { id: 'a1', parentId: 'main', type: 'rev' } };
  await fire('UserPromptSubmit', { prompt: 'ORACLE one' });
  await fire('UserPromptExpansion', { prompt: '/secure', command: 'secure', commandArguments: '' });
  await fire('PreToolUse', bash('echo before'));
  await fire('PreToolUse', { ...bash('echo after1'), ...used });
  await fire('PreToolUse', { ...bash('echo after2'), ...used });
  await fire('PreToolUse', { ...bash('echo sub'), ...rev });
  await fire('SubagentStop', { agentType: 'rev', ...rev });
  await fire('Stop', used);
  return recorded('ran.log').map(({ texts: [hook, pluginRoot = ''], payload }) => {
    const input = payload['tool_input'];
    return [
      payload['hook_event_name'],
      hook,
      isRecord(input) ? input['command'] : null,
      payload['agent_type'] ?? null,
      pluginRoot === 'none' ? null : pluginRoot.replace(root, '<ROOT>'),
    ];
  });
}

const SKILL_ROOT = '<ROOT>/.claude/skills/secure';

/** The payloads of one of the hooks, one for each run. */
const expectPayloads = (hook: string, expected: readonly (readonly unknown[])[]) => async (openFixture: OpenFixture) => {
  const mine = (await fireRecordedSession(openFixture)).filter(([, name]) => name === hook);
  expect(mine.map(([event, , ...rest]) => [event, ...rest])).toEqual(expected);
};

const inSubagent = ['PreToolUse', 'echo sub', 'rev', null];

export const frontMatter: Group = {
  name: '27-frontmatter',
  cases: [
    { name: 'ups', run: expectPayloads('ups', [['UserPromptSubmit', null, null, null]]) },
    { name: 'upe', run: expectPayloads('upe', [['UserPromptExpansion', null, null, null]]) },
    {
      name: 'settingsonce',
      run: expectPayloads('settingsonce', [
        ['PreToolUse', 'echo before', null, null],
        ['PreToolUse', 'echo after1', null, null],
        ['PreToolUse', 'echo after2', null, null],
        inSubagent,
      ]),
    },
    {
      name: 'skillhook',
      run: expectPayloads('skillhook', [
        ['PreToolUse', 'echo after1', null, SKILL_ROOT],
        ['PreToolUse', 'echo after2', null, SKILL_ROOT],
        ['PreToolUse', 'echo sub', 'rev', SKILL_ROOT],
      ]),
    },
    {
      name: 'skillonce',
      run: expectPayloads('skillonce', [['PreToolUse', 'echo after1', null, SKILL_ROOT]]),
    },
    { name: 'agenthook', run: expectPayloads('agenthook', [inSubagent]) },
    { name: 'agentstop', run: expectPayloads('agentstop', [['SubagentStop', null, 'rev', null]]) },
    { name: 'skillstop', run: expectPayloads('skillstop', [['Stop', null, null, SKILL_ROOT]]) },
  ],
};
