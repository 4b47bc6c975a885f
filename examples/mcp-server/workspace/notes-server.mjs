// An MCP server without any package: one JSON message on each line of stdin and stdout.
import { createInterface } from 'node:readline';

const notes = new Map([['milk', 'two bottles']]);
const text = (words) => ({ content: [{ type: 'text', text: words }] });

const TOOLS = {
  read: {
    description: 'Reads a note',
    run: ({ name }) => text(notes.get(name) ?? 'There is no such note.'),
  },
  delete: {
    description: 'Deletes a note',
    run: ({ name }) => text(`${name} is ${notes.delete(name) ? 'deleted' : 'not there'}`),
  },
};

const inputSchema = {
  type: 'object',
  properties: { name: { type: 'string', description: 'The name of the note' } },
  required: ['name'],
};

const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'notes', version: '1.0.0' },
  }),
  'tools/list': () => ({
    tools: Object.entries(TOOLS).map(([name, { description }]) => ({ name, description, inputSchema })),
  }),
  'tools/call': ({ name, arguments: input }) => TOOLS[name].run(input),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const answer = METHODS[method];
  if (id === undefined || answer === undefined) continue;
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: answer(params ?? {}) })}\n`);
}
