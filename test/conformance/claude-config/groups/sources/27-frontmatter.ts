import path from 'node:path';
import { expect } from 'vitest';
import { createEntryHandlers } from '../../../../../src/dialects/claude-config/entry-handlers.ts';
import type { Entry } from '../../../../../src/dialects/claude-config/entry.ts';
import { createBudget } from '../../../../../src/dialects/claude-config/match/matching.ts';
import { foundHook } from '../../../../../src/dialects/claude-config/found-hook.ts';
import {
  type MarkdownHooks,
  readAgentHooks,
  readSkillHooks,
} from '../../../../../src/dialects/claude-config/sources/skills-and-agents.ts';
import { claudeConfigOptions } from '../../../../../src/host/dialects/claude.ts';
import type { Handler, HandlerSource } from '../../../../../src/hooks/handler.ts';
import {
  bash,
  command,
  type Group,
  hostOptions,
  type Setup,
  type Stage,
  type World,
} from '../../build.ts';

const TELL = `jq -c --arg hook "$1" '[.hook_event_name, $hook, .tool_input.command, .agent_type, env.CLAUDE_PLUGIN_ROOT]' >> "$CLAUDE_PROJECT_DIR/ran.log"`;
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

/** Handlers that can be added while the host runs, as an agent adds those of a skill that is invoked. */
function createAddedHandlers(): HandlerSource & { add(handlers: readonly Handler[]): void } {
  const listeners = new Set<() => void>();
  let all: readonly Handler[] = [];
  return {
    handlers: () => all,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    add(handlers) {
      all = [...all, ...handlers];
      for (const listener of listeners) listener();
    },
  };
}

interface Session extends World {
  invokeSkill(): Promise<void>;
  startAgent(): Promise<void>;
}

async function session(stage: Stage): Promise<Session> {
  const added = createAddedHandlers();
  const setup: Setup = { ...SETUP, host: { sources: [added] } };
  const world = await stage(setup);
  const register = async (file: string, read: typeof readSkillHooks): Promise<void> => {
    const { root } = world;
    const { hooks }: MarkdownHooks = await read(path.join(root, file), {
      place: 'workspace',
      root,
    });
    added.add(hooks.entries.flatMap((entry, index) => handlersOf(entry, index, { world, setup })));
  };
  return {
    ...world,
    invokeSkill: () => register(SKILL_FILE, readSkillHooks),
    startAgent: () => register(AGENT_FILE, readAgentHooks),
  };
}

function handlersOf(
  entry: Entry,
  index: number,
  { world, setup }: { readonly world: World; readonly setup: Setup },
): readonly Handler[] {
  const { surroundings, workspaceRoots, stateDirectory } = world.host;
  const options = claudeConfigOptions({
    surroundings,
    workspaceRoots,
    startDirectory: world.root,
    stateDirectory,
    search: hostOptions(setup, world),
  });
  const environment = Object.entries(surroundings.env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  const own = { ...options.session, settingsEnv: {} };
  const httpRules = { allowedUrls: null, ownUrls: [], allowedEnvVars: null };
  const handlers = createEntryHandlers({ session: own, ports: {}, httpRules });
  const id = `${entry.source.label}:${entry.event}:${index}`;
  const means = { session: own, handlers, budget: createBudget() };
  return foundHook({ entry, id, ownId: id, index }, means).toHandlers({
    onFailure: 'open',
    timeoutMs: entry.timeoutMs,
    environment: Object.fromEntries(environment),
    withheld: () => null,
  });
}

/** The recorded session: before the skill, after it twice, in the sub-agent, at the end. */
async function told(stage: Stage): Promise<readonly (readonly unknown[])[]> {
  const { fire, lines, root, invokeSkill, startAgent } = await session(stage);
  const rev = { agent: { id: 'a1', parentId: 'main', type: 'rev' } };
  await fire('UserPromptSubmit', { prompt: 'ORACLE one' });
  await fire('UserPromptExpansion', { prompt: '/secure', command: 'secure', commandArguments: '' });
  await fire('PreToolUse', bash('echo before'));
  await invokeSkill();
  await fire('PreToolUse', bash('echo after1'));
  await fire('PreToolUse', bash('echo after2'));
  await startAgent();
  await fire('PreToolUse', { ...bash('echo sub'), ...rev });
  await fire('SubagentStop', { agentType: 'rev', ...rev });
  await fire('Stop');
  return lines('ran.log').map((line) => JSON.parse(line.replaceAll(root, '<ROOT>')));
}

const SKILL_ROOT = '<ROOT>/.claude/skills/secure';

/** What one of the hooks was told, each time that it ran. */
const ran = (hook: string, expected: readonly (readonly unknown[])[]) => async (stage: Stage) => {
  const mine = (await told(stage)).filter(([, name]) => name === hook);
  expect(mine.map(([event, , ...rest]) => [event, ...rest])).toEqual(expected);
};

const inSubagent = ['PreToolUse', 'echo sub', 'rev', null];

export const frontMatter: Group = {
  name: '27-frontmatter',
  cases: [
    { name: 'ups', run: ran('ups', [['UserPromptSubmit', null, null, null]]) },
    { name: 'upe', run: ran('upe', [['UserPromptExpansion', null, null, null]]) },
    {
      name: 'settingsonce',
      run: ran('settingsonce', [
        ['PreToolUse', 'echo before', null, null],
        ['PreToolUse', 'echo after1', null, null],
        ['PreToolUse', 'echo after2', null, null],
        inSubagent,
      ]),
    },
    {
      name: 'skillhook',
      run: ran('skillhook', [
        ['PreToolUse', 'echo after1', null, SKILL_ROOT],
        ['PreToolUse', 'echo after2', null, SKILL_ROOT],
        ['PreToolUse', 'echo sub', 'rev', SKILL_ROOT],
      ]),
    },
    {
      name: 'skillonce',
      run: ran('skillonce', [['PreToolUse', 'echo after1', null, SKILL_ROOT]]),
    },
    { name: 'agenthook', run: ran('agenthook', [inSubagent]) },
    { name: 'agentstop', run: ran('agentstop', [['SubagentStop', null, 'rev', null]]) },
    { name: 'skillstop', run: ran('skillstop', [['Stop', null, null, SKILL_ROOT]]) },
  ],
};
