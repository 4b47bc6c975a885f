import { defineTool, createInterruptedOutput } from '../../agent/tools/define-tool.ts';
import { createFailedOutput, type Tool } from '../../agent/tools/tool.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { parseContents } from '../../mcp/answer.ts';
import type { ServerConnection } from '../../mcp/connection.ts';
import { selectAsk } from './server-tools.ts';
import { limitText, toToolOutput } from './tool-output.ts';

type Connections = () => readonly ServerConnection[];

/** How a model finds and reads what servers hold beside their tools. */
export function createResourceTools(connections: Connections): readonly Tool[] {
  return [listTool(connections), readTool(connections)];
}

function listTool(connections: Connections): Tool {
  return defineTool<{ readonly server: string | null }>({
    name: 'ListMcpResourcesTool',
    description:
      'Lists the resources that connected MCP servers hold; each has the server that it belongs to.',
    kind: 'plan',
    schema: {
      type: 'object',
      properties: { server: { type: 'string', description: 'Only those of this server' } },
      additionalProperties: false,
    },
    read: (given) => ({ server: given.optionalText('server') }),
    async run({ server }, bench, { signal }) {
      const asked = connections().filter(({ name }) => server === null || name === server);
      if (server !== null && asked.length === 0) return unknownServer(server, connections());
      const listed = await Promise.all(asked.map((each) => resourcesOf(each, signal)));
      if (signal.aborted) return createInterruptedOutput();
      const resources = listed.flat();
      const text = resources.length === 0 ? 'No resources found.' : JSON.stringify(resources);
      return { response: resources, text: limitText(text, bench.spillDirectory), success: true };
    },
  });
}

/** One server that does not answer must not hide the others. */
async function resourcesOf(connection: ServerConnection, signal: AbortSignal): Promise<object[]> {
  const { name: server } = connection;
  try {
    return (await connection.resources(signal)).map((each) => ({ ...each, server }));
  } catch (error) {
    return [{ server, error: getErrorMessage(error) }];
  }
}

function unknownServer(server: string, connections: readonly ServerConnection[]) {
  const names = connections.map(({ name }) => name).join(', ');
  return createFailedOutput(
    `There is no MCP server "${server}" with resources. These have some: ${names}.`,
  );
}

function readTool(connections: Connections): Tool {
  return defineTool<{ readonly server: string; readonly uri: string }>({
    name: 'ReadMcpResourceTool',
    description: 'Reads one resource of an MCP server, by the server and the URI of the resource.',
    kind: 'fetch',
    schema: {
      type: 'object',
      properties: {
        server: { type: 'string', description: 'The name of the MCP server' },
        uri: { type: 'string', description: 'The URI of the resource' },
      },
      required: ['server', 'uri'],
      additionalProperties: false,
    },
    read: (given) => ({ server: given.requiredText('server'), uri: given.requiredText('uri') }),
    async run({ server, uri }, bench, { signal }) {
      const connection = connections().find(({ name }) => name === server);
      if (connection === undefined) return unknownServer(server, connections());
      const answer = await connection.request({
        method: 'resources/read',
        params: { uri },
        signal,
        ...selectAsk(bench),
      });
      return toToolOutput({ blocks: parseContents(answer), isError: false }, bench.spillDirectory);
    },
  });
}
