import { type McpServer, methods } from '@agentclientprotocol/sdk';
import { expect, test } from 'vitest';
import { createTempWorkspace, type TempWorkspace, write } from '../cli/temp-workspace.ts';
import { startEditor, type TestEditor } from './acp-editor.ts';
import { DONE } from './agent-run.ts';

/** An MCP server with one tool, which asks the user for a colour and gives it back. */
const SERVER = `
const lines = require('node:readline').createInterface({ input: process.stdin });
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const capabilities = { tools: {} };
let call = null;
lines.on('line', (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === 'initialize') {
    const serverInfo = { name: 'paint', version: '1' };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo } });
  } else if (method === 'tools/list') {
    const tool = { name: 'paint', description: 'Paints', inputSchema: { type: 'object' } };
    send({ id, result: { tools: [tool] } });
  } else if (method === 'tools/call') {
    call = id;
    const requestedSchema = {
      type: 'object',
      properties: { colour: { type: 'string', title: 'Colour' } },
      required: ['colour'],
    };
    send({ id: 'ask', method: 'elicitation/create', params: { message: 'Which?', requestedSchema } });
  } else if (id === 'ask') {
    const text = process.env.PREFIX + JSON.stringify(result);
    send({ id: call, result: { content: [{ type: 'text', text }] } });
  } else if (id !== undefined) send({ id, result: {} });
});
`;

const PAINT = { tools: [{ name: 'mcp__paint__paint', input: {} }] };

async function openWithServer(editor: TestEditor, workspace: TempWorkspace): Promise<string> {
  const file = write(workspace.directory, 'server.cjs', SERVER);
  const server: McpServer = {
    name: 'paint',
    command: process.execPath,
    args: [file],
    env: [{ name: 'PREFIX', value: 'painted ' }],
  };
  const { sessionId } = await editor.agent.request(methods.agent.session.new, {
    cwd: workspace.repo,
    mcpServers: [server],
  });
  return sessionId;
}

test('servers of the editor are started, and their questions are asked in it', async () => {
  const workspace = createTempWorkspace();
  const editor = await startEditor(workspace, [PAINT, DONE], {
    args: ['--allow', 'mcp__paint__paint'],
    capabilities: { elicitation: { form: {} } },
    elicit: () => ({ action: 'accept', content: { colour: 'red' } }),
  });
  const sessionId = await openWithServer(editor, workspace);
  expect(await editor.say(sessionId, 'paint')).toBe('end_turn');
  expect(editor.elicited).toStrictEqual([
    {
      mode: 'form',
      sessionId,
      message: 'paint: Which?',
      requestedSchema: {
        type: 'object',
        properties: { colour: { type: 'string', title: 'Colour' } },
        required: ['colour'],
      },
    },
  ]);
  expect(JSON.stringify(editor.updates())).toContain('painted');
  expect(JSON.stringify(editor.updates())).toContain('red');
  expect(await editor.leave()).toBe(0);
});

test('an editor without forms declines, and the user gets a message', async () => {
  const workspace = createTempWorkspace();
  const editor = await startEditor(workspace, [PAINT, DONE], {
    args: ['--allow', 'mcp__paint__paint'],
  });
  const sessionId = await openWithServer(editor, workspace);
  expect(await editor.say(sessionId, 'paint')).toBe('end_turn');
  const output = JSON.stringify(editor.updates());
  expect(output).toContain('The server paint asks “Which?”; this editor cannot show it');
  expect(output).toContain('decline');
});
