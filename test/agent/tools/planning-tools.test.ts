import { describe, expect, test } from 'vitest';
import { agentTool } from '../../../src/agent/tools/agent.ts';
import { askUserQuestionTool, exitPlanModeTool } from '../../../src/agent/tools/ask-user.ts';
import { skillTool } from '../../../src/agent/tools/skill.ts';
import {
  taskCreateTool,
  taskUpdateTool,
  todoWriteTool,
} from '../../../src/agent/tools/task-lists.ts';
import { createFailedOutput, type Tool } from '../../../src/agent/tools/tool.ts';
import type {
  AgentTask,
  AgentReport,
  TaskItem,
  TaskItems,
  ToolPorts,
} from '../../../src/agent/tools/tool-context.ts';
import { createToolFixture, use } from './fixture.ts';

function withPorts(ports: ToolPorts) {
  return createToolFixture({ ports }).toolContext;
}

function hookInput(tool: Tool, input: unknown): unknown {
  const prepared = tool.prepare(input, createToolFixture().toolContext);
  return typeof prepared === 'string' ? prepared : prepared.input;
}

describe('TodoWrite', () => {
  const first = [{ content: 'Run tests', status: 'pending', activeForm: 'Running tests' }];
  const second = [
    { content: 'Run tests', status: 'completed', activeForm: 'Running tests' },
    { content: 'Ship', status: 'in_progress', activeForm: 'Shipping' },
  ];

  test('answers with the list before and after, for each agent its own', async () => {
    const { toolContext } = createToolFixture();
    expect(await use(todoWriteTool, toolContext, { todos: first })).toEqual({
      response: { oldTodos: [], newTodos: first },
      text: 'The list is now:\n[ ] Run tests',
      success: true,
    });
    expect(await use(todoWriteTool, toolContext, { todos: second })).toEqual({
      response: { oldTodos: first, newTodos: second },
      text: 'The list is now:\n[x] Run tests\n[>] Ship',
      success: true,
    });
    expect(await use(todoWriteTool, createToolFixture().toolContext, { todos: [] })).toEqual({
      response: { oldTodos: [], newTodos: [] },
      text: 'The list is empty now.',
      success: true,
    });
  });

  test('needs a list of steps with a status', () => {
    const wrong = (todos: unknown): unknown => hookInput(todoWriteTool, { todos });
    expect(wrong('x')).toBe('expected "todos" to be a list, found the text "x"');
    expect(wrong([{ content: 'a', status: 'done' }])).toBe(
      'expected "todos[0].status" to be one of "pending", "in_progress", "completed", found the text "done"',
    );
    expect(wrong([{ content: 'a', status: 'pending' }])).toEqual({
      todos: [{ content: 'a', status: 'pending', activeForm: 'a' }],
    });
  });
});

function createItems(refusal: string | null = null): TaskItems {
  const items = new Map<string, TaskItem>();
  return {
    async create({ subject, description }) {
      if (refusal !== null) return { reason: refusal };
      const item: TaskItem = {
        id: String(items.size + 1),
        subject,
        description,
        status: 'pending',
      };
      items.set(item.id, item);
      return item;
    },
    async update(id, { status, ...texts }) {
      const old = items.get(id);
      if (old === undefined || status === 'completed') return { reason: 'not complete yet' };
      const newStatus = status === undefined || status === 'deleted' ? old.status : status;
      const item = { ...old, ...texts, status: newStatus };
      items.set(id, item);
      return item;
    },
    find: (id) => items.get(id) ?? null,
  };
}

describe('the list of tasks', () => {
  test('grows and changes in Claude’s form', async () => {
    const toolContext = withPorts({ taskItems: createItems() });
    expect(
      await use(taskCreateTool, toolContext, { subject: 'Do A', description: 'desc A' }),
    ).toEqual({
      response: { task: { id: '1', subject: 'Do A', description: 'desc A' } },
      text: 'Task #1 created: Do A',
      success: true,
    });
    expect(
      await use(taskUpdateTool, toolContext, {
        taskId: '1',
        status: 'in_progress',
        subject: 'Do B',
      }),
    ).toEqual({
      response: {
        success: true,
        taskId: '1',
        updatedFields: ['subject', 'status'],
        statusChange: { from: 'pending', to: 'in_progress' },
      },
      text: 'Task #1 updated: subject, status',
      success: true,
    });
    expect(await use(taskUpdateTool, toolContext, { taskId: '1' })).toMatchObject({
      response: { success: true, taskId: '1', updatedFields: [] },
      text: 'Task #1 is as it was.',
    });
  });

  test('a hook’s refusal is an error of TaskCreate and an answer of TaskUpdate', async () => {
    const refused = withPorts({ taskItems: createItems('hook says no') });
    const input = { subject: 'Do A', description: '' };
    expect(await use(taskCreateTool, refused, input)).toEqual(createFailedOutput('hook says no'));
    const toolContext = withPorts({ taskItems: createItems() });
    await use(taskCreateTool, toolContext, input);
    expect(await use(taskUpdateTool, toolContext, { taskId: '1', status: 'completed' })).toEqual({
      response: { success: false, taskId: '1', updatedFields: [], error: 'not complete yet' },
      text: 'not complete yet',
      success: true,
    });
  });

  test('a task that does not exist cannot be changed', async () => {
    const toolContext = withPorts({ taskItems: createItems() });
    const error = 'There is no task #9.';
    expect(await use(taskUpdateTool, toolContext, { taskId: '9', status: 'completed' })).toEqual({
      response: { success: false, taskId: '9', updatedFields: [], error },
      text: error,
      success: true,
    });
  });

  test('an agent without one reports that before any hook is asked', () => {
    expect(hookInput(taskCreateTool, { subject: 'a', description: '' })).toBe(
      'This agent has no list of tasks.',
    );
    expect(hookInput(taskUpdateTool, { taskId: '1' })).toBe('This agent has no list of tasks.');
  });
});

describe('AskUserQuestion', () => {
  const option = (label: string) => ({ label, description: '' });
  const question = {
    question: 'Which?',
    header: 'Choice',
    options: [option('A'), option('B')],
    multiSelect: false,
  };

  test('gives the answers of the user', async () => {
    const toolContext = withPorts({ askUser: async () => ({ 'Which?': 'B' }) });
    expect(await use(askUserQuestionTool, toolContext, { questions: [question] })).toEqual({
      response: { questions: [question], answers: { 'Which?': 'B' } },
      text: 'Which?\n→ B',
      success: true,
    });
  });

  test('fails when no user is present, and when the user does not want to answer', async () => {
    const input = { questions: [question] };
    expect(await use(askUserQuestionTool, createToolFixture().toolContext, input)).toEqual(
      createFailedOutput(
        'Nobody is here to answer. Decide by yourself what is most sensible, and say what you assumed.',
      ),
    );
    const dismissed = withPorts({ askUser: async () => null });
    expect(await use(askUserQuestionTool, dismissed, input)).toEqual(
      createFailedOutput('The user dismissed the questions.'),
    );
  });

  test('accepts one to four questions, with options or open', () => {
    const getHookInput = (questions: unknown): unknown =>
      hookInput(askUserQuestionTool, { questions });
    expect(getHookInput([])).toBe(
      'expected "questions" to be a list of 1 to 4 questions, found a list',
    );
    expect(getHookInput([1, 2, 3, 4, 5].map(() => question))).toMatch(
      /^expected "questions" to be a list of 1 to 4/,
    );
    expect(getHookInput([{ ...question, options: [option('A')] }])).toBe(
      'expected "questions[0].options" to be a list of 2 to 4 options, found a list',
    );
    expect(getHookInput([{ question: 'Why?', header: '' }])).toEqual({
      questions: [{ question: 'Why?', header: 'Question', options: [], multiSelect: false }],
    });
  });
});

describe('Skill', () => {
  const toolContext = () =>
    withPorts({
      useSkill: (name) => (name === 'sk' ? { text: 'Do it so.', directory: '/skills/sk' } : null),
    });

  test('gives its text with its directory', async () => {
    expect(await use(skillTool, toolContext(), { skill: '/sk', args: 'x' })).toEqual({
      response: { success: true, commandName: 'sk' },
      text: 'Base directory for this skill: /skills/sk\n\nDo it so.\n\nARGUMENTS: x',
      success: true,
    });
  });

  test('that does not exist fails', async () => {
    const missing = createFailedOutput('There is no skill named "none" here.');
    expect(await use(skillTool, toolContext(), { skill: 'none' })).toEqual(missing);
    expect(await use(skillTool, createToolFixture().toolContext, { skill: 'none' })).toEqual(
      missing,
    );
  });

  test('that is very long is cut', async () => {
    const long = withPorts({ useSkill: () => ({ text: 'x'.repeat(100_000), directory: '/s' }) });
    const { text } = await use(skillTool, long, { skill: 'a' });
    expect(text.length).toBeLessThan(61_000);
    expect(text.endsWith('[The rest is left out; it is in /s/SKILL.md]')).toBe(true);
  });
});

describe('Agent', () => {
  const report: AgentReport = {
    agentId: 'a1',
    agentType: 'general-purpose',
    model: 'scripted',
    success: true,
    text: 'sub done',
    durationMs: 5,
    tokens: 120,
    toolCalls: 1,
    usage: { input_tokens: 100, output_tokens: 20 },
  };

  test('runs a sub-agent and returns its last text', async () => {
    const orders: AgentTask[] = [];
    const toolContext = withPorts({
      runAgent: async (order) => {
        orders.push(order);
        return report;
      },
    });
    const input = { description: 'do sub', prompt: 'SUBAGENT_TASK run' };
    expect(await use(agentTool, toolContext, input)).toEqual({
      response: {
        status: 'completed',
        prompt: 'SUBAGENT_TASK run',
        agentId: 'a1',
        agentType: 'general-purpose',
        content: [{ type: 'text', text: 'sub done' }],
        resolvedModel: 'scripted',
        totalDurationMs: 5,
        totalTokens: 120,
        totalToolUseCount: 1,
        usage: { input_tokens: 100, output_tokens: 20 },
      },
      text: 'sub done',
      success: true,
    });
    const background = {
      prompt: 'p',
      subagent_type: 'Explore',
      model: 'm',
      run_in_background: true,
    };
    expect((await use(agentTool, toolContext, background)).text).toMatch(
      /^sub done\n\n\[run_in_background has no effect here/,
    );
    expect(orders).toEqual([
      { callId: 'call_1', ...input, agentType: 'general-purpose', model: null },
      { callId: 'call_1', description: 'p', prompt: 'p', agentType: 'Explore', model: 'm' },
    ]);
  });

  test('that does not finish is a failure with its last text', async () => {
    const failing = withPorts({
      runAgent: async () => ({ ...report, success: false, text: 'stuck' }),
    });
    const input = { description: 'd', prompt: 'p' };
    const error = 'The general-purpose agent did not finish its task.\nstuck';
    expect(await use(agentTool, failing, input)).toEqual(createFailedOutput(error));
    expect(await use(agentTool, createToolFixture().toolContext, input)).toEqual(
      createFailedOutput('This agent cannot start another one. Do the work yourself.'),
    );
    const controller = new AbortController();
    const interrupted = withPorts({
      runAgent: async () => {
        controller.abort();
        return { ...report, success: false, text: 'stuck' };
      },
    });
    expect(await use(agentTool, interrupted, input, { signal: controller.signal })).toEqual({
      ...createFailedOutput(error),
      interrupted: true,
    });
  });
});

describe('ExitPlanMode', () => {
  test('leaves plan mode once it is approved, and answers in Claude’s form', async () => {
    let leaveCount = 0;
    const toolContext = withPorts({ leavePlanMode: () => void (leaveCount += 1) });
    expect(await use(exitPlanModeTool, toolContext, { plan: '1. Go' })).toEqual({
      response: { plan: '1. Go', filePath: null, isAgent: false },
      text: 'The user agrees with your plan. Begin to carry it out.',
      success: true,
    });
    expect(leaveCount).toBe(1);
  });

  test('fails where there is no plan mode to leave, and without a plan', async () => {
    expect(await use(exitPlanModeTool, createToolFixture().toolContext, { plan: '1. Go' })).toEqual(
      createFailedOutput('There is no plan mode to leave here. Give the plan as your answer.'),
    );
    expect(hookInput(exitPlanModeTool, { plan: ' ' })).toBe(
      'expected "plan" to be text that is not empty, found the text " "',
    );
  });
});
