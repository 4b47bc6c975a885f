import { describe, expect, test } from 'vitest';
import { TOOL_NAMES, listToolViews } from '../../../src/tool-vocabularies/tool-views.ts';
import { findTool, TOOLS } from '../../../src/agent/tools/index.ts';
import { readTool } from '../../../src/agent/tools/read.ts';
import { prepareToolCall } from '../../../src/agent/tools/prepare-tool-call.ts';
import type { ToolPorts } from '../../../src/agent/tools/tool-context.ts';
import { isToolset, listToolSpecs, TOOLSETS } from '../../../src/agent/tools/toolsets.ts';
import { createToolFixture, use } from './fixture.ts';

const QUESTION = {
  question: 'Which?',
  header: 'Choice',
  options: [
    { label: 'A', description: '' },
    { label: 'B', description: '' },
  ],
  multiSelect: false,
};

/** An input for every name, with all of its required keys and most others. */
const EXAMPLES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  Read: { file_path: 'a.txt', offset: 1, limit: 2 },
  Write: { file_path: 'n.txt', content: 'x' },
  Edit: { file_path: 'a.txt', old_string: 'one', new_string: 'two', replace_all: true },
  Bash: { command: 'ls', description: 'lists', timeout: 1000 },
  BashOutput: { bash_id: 'bash_1' },
  KillShell: { shell_id: 'bash_1' },
  Grep: { pattern: 'one', path: '.', glob: '*.txt', output_mode: 'content' },
  Glob: { pattern: '*', path: '.' },
  WebFetch: { url: 'https://example.com/', prompt: 'what?' },
  Agent: { description: 'd', prompt: 'p', subagent_type: 'Explore' },
  TodoWrite: { todos: [{ content: 'a', status: 'pending', activeForm: 'a' }] },
  TaskCreate: { subject: 's', description: 'd' },
  TaskUpdate: { taskId: '1', status: 'completed' },
  AskUserQuestion: { questions: [QUESTION] },
  Skill: { skill: 'sk', args: 'x' },
  NotebookEdit: { notebook_path: 'n.ipynb', cell_id: 'c1', new_source: 'print(2)' },
  ExitPlanMode: { plan: 'p' },
  read_file: { path: 'a.txt' },
  write_to_file: { path: 'n.txt', content: 'x' },
  replace_in_file: {
    path: 'a.txt',
    diff: '------- SEARCH\none\n=======\ntwo\n+++++++ REPLACE',
  },
  execute_command: { command: 'ls', requires_approval: false },
  search_files: { path: '.', regex: 'one', file_pattern: '*.txt' },
  list_files: { path: '.', recursive: true },
  web_fetch: { url: 'https://example.com/', prompt: 'what?' },
  new_task: { context: 'p' },
  focus_chain: { task_progress: '- [x] a\n- [ ] b' },
  ask_followup_question: { question: 'Why?', options: ['A', 'B'] },
  use_skill: { skill_name: 'sk' },
  read_files: { files: [{ path: 'a.txt', start_line: 1, end_line: 2 }, { path: 'a.txt' }] },
  editor: { path: 'a.txt', new_text: 'x', old_text: 'one' },
  apply_patch: {
    input:
      '*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** Add File: n.txt\n+x\n*** End Patch',
  },
  run_commands: { commands: ['ls', 'pwd'] },
  search_codebase: { queries: ['one', 'two'] },
  fetch_web_content: { requests: [{ url: 'https://example.com/', prompt: 'what?' }] },
  spawn_agent: { task: 'p' },
  ask_question: { question: 'Why?', options: ['A', 'B'] },
  skills: { skill: 'sk', args: 'x' },
};

const PORTS: ToolPorts = {
  taskItems: {
    create: async () => ({ reason: '' }),
    update: async () => ({ reason: '' }),
    find: () => null,
  },
};

const NOTEBOOK = JSON.stringify({
  cells: [
    {
      cell_type: 'code',
      id: 'c1',
      source: ['print(1)'],
      metadata: {},
      outputs: [],
      execution_count: null,
    },
  ],
  metadata: {},
  nbformat: 4,
  nbformat_minor: 5,
});

async function prepareToolContext() {
  const { toolContext, start } = createToolFixture(
    { ports: PORTS },
    { 'a.txt': 'one\ntwo\n', 'n.ipynb': NOTEBOOK },
  );
  for (const file of ['a.txt', 'n.ipynb']) await use(readTool, toolContext, { file_path: file });
  return { toolContext, start };
}

describe.each(TOOLSETS)('the toolset %s', (toolset) => {
  const specs = listToolSpecs(toolset, TOOLS);

  test.each(specs)('$name accepts what its schema asks for', async ({ name, schema }) => {
    const input = EXAMPLES[name];
    expect(input).toBeDefined();
    const inputs = Object.keys(input ?? {});
    const { properties, required } = schema;
    expect(Object.keys(Object(properties))).toEqual(expect.arrayContaining(inputs));
    expect(inputs).toEqual(expect.arrayContaining(Array.isArray(required) ? required : []));
    const { toolContext, start } = await prepareToolContext();
    const call = prepareToolCall({ name, input }, { context: toolContext, tools: TOOLS });
    const isAboutShells = name === 'BashOutput' || name === 'KillShell';
    expect(isAboutShells || typeof call !== 'string' ? '' : call).toBe('');
    const views = listToolViews({ name, input }, 'claude', { cwd: start, root: start });
    for (const view of views) expect(findTool(view.name)?.name).toBe(view.name);
  });

  test('names every tool once, and each name leads back to a tool', () => {
    const names = specs.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(specs.every(({ description }) => description.length > 20)).toBe(true);
  });
});

test('the tools have these names in each toolset', () => {
  const own = TOOLS.map(({ name }) => name);
  expect(own.join(' ')).toBe(
    'Read Write Edit Bash BashOutput KillShell Grep Glob WebFetch Agent TodoWrite TaskCreate TaskUpdate ' +
      'AskUserQuestion Skill NotebookEdit ExitPlanMode',
  );
  const listNames = (toolset: (typeof TOOLSETS)[number]) =>
    listToolSpecs(toolset, TOOLS)
      .map(({ name }) => name)
      .join(' ');
  expect(listNames('claude')).toBe(own.join(' '));
  expect(listNames('cline-classic')).toBe(
    'read_file write_to_file replace_in_file execute_command BashOutput KillShell search_files ' +
      'list_files web_fetch new_task focus_chain TaskCreate TaskUpdate ask_followup_question use_skill ' +
      'NotebookEdit ExitPlanMode',
  );
  expect(listNames('cline-sdk')).toBe(
    'read_files editor apply_patch run_commands BashOutput KillShell search_codebase Glob ' +
      'fetch_web_content spawn_agent TodoWrite TaskCreate TaskUpdate ask_question skills NotebookEdit ' +
      'ExitPlanMode',
  );
  expect(isToolset('cline-sdk')).toBe(true);
  expect(isToolset('sdk')).toBe(false);
});

test('every name of a vocabulary is offered in its toolset, unless its tool does not exist here', () => {
  const offered = (toolset: (typeof TOOLSETS)[number]) =>
    new Set(listToolSpecs(toolset, TOOLS).map(({ name }) => name));
  const classic = offered('cline-classic');
  const sdk = offered('cline-sdk');
  const present = TOOL_NAMES.filter(({ claude }) => findTool(claude) !== null);
  const missing = present.flatMap((names) => [
    ...names.classic.filter((name) => !classic.has(name)),
    ...names.sdk.filter((name) => !sdk.has(name)),
  ]);
  expect(missing).toEqual([]);
});

test('a tool that was added later keeps its name, whatever it is', () => {
  const tool = { ...readTool, name: 'constructor' };
  for (const toolset of TOOLSETS) {
    expect(listToolSpecs(toolset, [tool]).map(({ name }) => name)).toEqual(['constructor']);
  }
});

test.each([
  ['mcp__srv__echo', 'srv__echo'],
  ['mcp__mcp__echo', 'mcp__mcp__echo'],
  ['mcp___srv__echo', 'mcp___srv__echo'],
])('a tool of a server, %s, is offered as %s in the SDK’s vocabulary', (name, output) => {
  const tool = { ...readTool, name, server: { name: 'srv', source: 'user' } } as const;
  const names = TOOLSETS.map((toolset) => listToolSpecs(toolset, [tool])[0]?.name);
  expect(names).toEqual([name, name, output]);
});
