import { expect, it } from 'vitest';
import type { ServiceTurn } from '../../../e2e/service.ts';
import { runProgram } from '../sdk-program.ts';

const RUNNING = `
import { ClineCore, createTool } from 'hookline';
const tool = createTool({ name: 'look', description: '', inputSchema: { type: 'object' }, execute: async () => 'seen' });
const core = await ClineCore.create({ backendMode: 'local' });
const run = async (more) => {
  const { result } = await core.start({ config: config({ extraTools: [tool], ...more }), prompt: 'go' });
  report([result.finishReason, result.text, result.usage.inputTokens]);
};
`;

const EMPTY: ServiceTurn = { text: '' };

it('a request whose answer is empty is repeated twice, and then the run has failed', async () => {
  const { reports, service } = await runProgram(`${RUNNING} await run(); await core.dispose();`, [
    EMPTY,
    EMPTY,
    EMPTY,
  ]);
  const text = 'openai-compatible returned an empty answer for gpt-4o 3 times in a row.';
  expect(reports).toEqual([['error', text, 300]]);
  expect(service.requests()).toHaveLength(3);
});

it('an answer to a repeated request counts', async () => {
  const { reports } = await runProgram(`${RUNNING} await run(); await core.dispose();`, [
    EMPTY,
    EMPTY,
    { text: 'Here I am.' },
  ]);
  expect(reports).toEqual([['completed', 'Here I am.', 300]]);
});

it('a model may have nothing to add to the result of a tool', async () => {
  const { reports, service } = await runProgram(`${RUNNING} await run(); await core.dispose();`, [
    { tools: [{ name: 'look', input: {} }] },
    EMPTY,
  ]);
  expect(reports).toEqual([['completed', '', 200]]);
  expect(service.requests()).toHaveLength(2);
});

it('a scripted turn counts as it is written', async () => {
  const { reports } = await runProgram(
    `${RUNNING} await run({ providerId: 'scripted', script: [{ text: '', usage: { inputTokens: 1 } }] }); await core.dispose();`,
    [],
  );
  expect(reports).toEqual([['completed', '', 1]]);
});
