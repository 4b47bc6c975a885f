import { describe, expect, it } from 'vitest';
import { hooklineProgram } from '../../../cli/hookline.ts';
import { write } from '../../../cli/temp-workspace.ts';
import { createProgramWorkspace, runProgram } from '../sdk-program.ts';

const TOOLS = `
import { ClineCore, createTool } from 'hookline';
const tool = (name, execute) =>
  createTool({ name, description: name, inputSchema: { type: 'object' }, execute });
const hooksOf = (hooks) => ({ name: 'watcher', manifest: { capabilities: ['hooks'] }, hooks });
const start = async (session, more) => {
  const core = await ClineCore.create({ backendMode: 'local' });
  const { result, sessionId } = await core.start({ config: config(session), prompt: 'go', ...more });
  return { core, result, sessionId };
};
`;

it('beforeRun, afterRun and the events of a run fire for sub-agents, with the id of their parent', async () => {
  const { reports } = await runProgram(
    `${TOOLS}
    const tell = (what, { parentAgentId, agentId }) => report([what, parentAgentId, agentId === 'lead']);
    const { core } = await start({
      sessionId: 'lead',
      enableSpawnAgent: true,
      extensions: [hooksOf({
        beforeRun: ({ snapshot }) => tell('beforeRun', snapshot),
        afterRun: ({ snapshot, result }) => {
          tell('afterRun', snapshot);
          report([result.agentId === snapshot.agentId, result.status, result.outputText]);
        },
        onEvent: ({ type, snapshot }) => { if (type.startsWith('run-')) tell(type, snapshot); },
      })],
    });
    await core.dispose();`,
    [
      { tools: [{ name: 'spawn_agent', input: { systemPrompt: 'sub', task: 'count' } }] },
      { text: 'one' },
      { text: 'There is one.' },
    ],
  );
  expect(reports).toEqual([
    ['beforeRun', null, true],
    ['run-started', null, true],
    ['beforeRun', 'lead', false],
    ['run-started', 'lead', false],
    ['afterRun', 'lead', false],
    [true, 'completed', 'one'],
    ['run-finished', 'lead', false],
    ['afterRun', null, true],
    [true, 'completed', 'There is one.'],
    ['run-finished', null, true],
  ]);
});

it('a beforeRun that stops a sub-agent leaves its parent with the reason', async () => {
  const { reports, service } = await runProgram(
    `${TOOLS}
    const { core, result } = await start({
      enableSpawnAgent: true,
      extensions: [hooksOf({
        beforeRun: ({ snapshot }) => snapshot.parentAgentId === null ? undefined : { stop: true, reason: 'no helpers' },
      })],
    });
    report([result.finishReason, result.text]);
    await core.dispose();`,
    [
      { tools: [{ name: 'spawn_agent', input: { systemPrompt: 'sub', task: 'count' } }] },
      { text: 'Then I do it myself.' },
    ],
  );
  expect(reports).toEqual([['completed', 'Then I do it myself.']]);
  expect(service.requests()).toHaveLength(2);
  expect(service.requests()[1]?.messages.at(-1)?.text).toContain('no helpers');
});

describe('a steer_message of a plugin', () => {
  const STEERING = (hook: string): string => `${TOOLS}
    let emit = () => undefined;
    let times = 0;
    const steering = {
      name: 'steering',
      manifest: { capabilities: ['hooks'] },
      setup(_api, context) { emit = context.emitEvent; },
      hooks: {
        ${hook}({ result }) {
          times += 1;
          if (times === 1) emit('steer_message', { prompt: 'one more thing' });
        },
      },
    };
    const { core, result } = await start({ extensions: [steering] }, MORE);
    report([result.text, times]);
    await core.dispose();`;

  it('in afterRun is the next prompt, in a session that ends and in one that stays open', async () => {
    const turns = [{ text: 'First.' }, { text: 'Second.' }];
    const ending = await runProgram(STEERING('afterRun').replace('MORE', '{}'), turns);
    expect(ending.reports).toEqual([['First.', 2]]);
    expect(ending.service.requests()[1]?.messages.at(-1)?.text).toBe('one more thing');
    const staying = await runProgram(
      STEERING('afterRun')
        .replace('MORE', '{ interactive: true }')
        .replace(
          'report(',
          'while (times < 2) await new Promise((resolve) => setTimeout(resolve, 20));\n report(',
        ),
      turns,
    );
    expect(staying.service.requests()[1]?.messages.at(-1)?.text).toBe('one more thing');
  });
});

describe('a turn with several calls', () => {
  const TURN = [
    {
      tools: [
        { name: 'work', input: { n: 1 } },
        { name: 'work', input: { n: 2 } },
      ],
    },
    { text: 'Done.' },
  ];

  const WORKING = `${TOOLS}
    const work = tool('work', async ({ n }) => { report(['ran', n]); return n; });
    const guard = (decide) => hooksOf({
      beforeTool: ({ input }) => { report(['asked', input.n]); return decide(input); },
      onEvent: ({ type, toolCall }) => { if (/^tool-/.test(type)) report([type, toolCall.input.n]); },
    });
  `;

  it('asks about all of them before the first runs', async () => {
    const { reports } = await runProgram(
      `${WORKING} const { core } = await start({ extraTools: [work], extensions: [guard(() => undefined)] }); await core.dispose();`,
      TURN,
    );
    expect(reports).toEqual([
      ['asked', 1],
      ['asked', 2],
      ['tool-started', 1],
      ['ran', 1],
      ['tool-finished', 1],
      ['tool-started', 2],
      ['ran', 2],
      ['tool-finished', 2],
    ]);
  });

  it('runs none of them when a hook stops the second', async () => {
    const { reports } = await runProgram<readonly unknown[]>(
      `${WORKING}
      const { core, result } = await start({
        extraTools: [work],
        extensions: [guard(({ n }) => n === 2 ? { stop: true, reason: 'too much' } : undefined)],
      });
      report([result.finishReason, result.stopReason]);
      await core.dispose();`,
      TURN,
    );
    expect(reports.filter(([what]) => what !== 'tool-started' && what !== 'tool-finished')).toEqual(
      [
        ['asked', 1],
        ['asked', 2],
        ['aborted', 'too much'],
      ],
    );
  });

  it('runs them as hooks have changed them, those with executionMode "parallel" side by side', async () => {
    const { reports } = await runProgram(
      `${TOOLS}
      let release;
      const both = new Promise((resolve) => { release = resolve; });
      const waiting = { ...tool('work', async ({ n }) => {
        report(['ran', n]);
        if (n === 20) release();
        await both;
        return n;
      }), executionMode: 'parallel' };
      const { core, result } = await start({
        extraTools: [waiting],
        extensions: [hooksOf({ beforeTool: ({ input }) => ({ input: { n: input.n * 10 } }) })],
      });
      report(result.toolCalls.map(({ output }) => output));
      await core.dispose();`,
      TURN,
    );
    expect(reports).toEqual([
      ['ran', 10],
      ['ran', 20],
      [10, 20],
    ]);
  });
});

describe('a prompt that a SessionStart hook sends', () => {
  const SENDING = `"${process.execPath}" "${hooklineProgram()}" session send QUEUED`;

  it.each([
    ["after the program's own", "prompt: 'go'", ['go', 'QUEUED']],
    ['at once in a session without one', '', ['QUEUED']],
  ])('runs %s', async (_, input, prompts) => {
    const workspace = createProgramWorkspace();
    const hooks = { SessionStart: [{ hooks: [{ type: 'command', command: SENDING }] }] };
    write(workspace.home, '.claude/settings.json', JSON.stringify({ hooks }));
    const { service } = await runProgram(
      `import { ClineCore } from 'hookline';
      const core = await ClineCore.create({});
      const ended = new Set();
      const done = new Promise((resolve) => core.subscribe((event) => {
        if (event.type !== 'agent_event' || event.payload.event.type !== 'done') return;
        ended.add(event);
        if (ended.size === ${prompts.length}) resolve();
      }));
      await core.start({ config: config(), interactive: true, ${input} });
      await done;
      await core.dispose();`,
      [{ text: 'a' }, { text: 'b' }],
      { workspace },
    );
    expect(service.requests().map(({ messages }) => messages.at(-1)?.text)).toEqual(prompts);
  });
});
