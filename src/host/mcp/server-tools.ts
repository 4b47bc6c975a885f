import { createInterruptedOutput, defineTool } from '../../agent/tools/define-tool.ts';
import {
  createFailedOutput,
  type RunningCall,
  type Tool,
  type ToolOutput,
} from '../../agent/tools/tool.ts';
import type { ToolContext } from '../../agent/tools/tool-context.ts';
import { dropUndefined } from '../../base/defined.ts';
import { getErrorMessage, HooklineError } from '../../base/errors.ts';
import { isRecord, getTypeName } from '../../base/json.ts';
import { parseAnswer, parseContents, parsePromptText } from '../../mcp/answer.ts';
import type { ServerConnection } from '../../mcp/server-connection.ts';
import type { ServerTool, ServerPrompt } from '../../mcp/server-lists.ts';
import type { Ask } from '../../mcp/pending-calls.ts';
import { type ServerConfig, toWireName } from '../../mcp/server-config.ts';
import { limitText } from '../../agent/tools/shell/command-output.ts';
import { toToolOutput } from './tool-output.ts';
import { type SlashCommand, splitArguments } from '../../agent/instructions/commands.ts';

/** A configured server that is connected, or being connected. */
export interface StartedServer {
  readonly config: ServerConfig;
  readonly connection: ServerConnection;
  /** Resolves when it is connected or has failed. */
  readonly settled: Promise<void>;
}

/** Creates the agent's tools of connected servers; caches them as long as the server lists the same ones. */
export function createToolFactory(notify: (text: string) => void) {
  const toolsByServerTool = new WeakMap<ServerTool, Tool>();
  const getTool = (server: StartedServer, tool: ServerTool): Tool => {
    const agentTool = toolsByServerTool.get(tool) ?? createAgentTool(server, tool);
    toolsByServerTool.set(tool, agentTool);
    return agentTool;
  };
  return (servers: readonly StartedServer[]): readonly Tool[] => {
    const tools = new Map<string, Tool>();
    const listed = servers.flatMap((server) =>
      server.connection.tools.map((tool) => getTool(server, tool)),
    );
    for (const tool of listed) {
      const problem = describeNameProblem(tool) ?? describeDuplicate(tool, tools);
      if (problem === null) tools.set(tool.name, tool);
      else notify(problem);
    }
    return [...tools.values()];
  };
}

function describeDuplicate({ name }: Tool, toolsByName: ReadonlyMap<string, Tool>): string | null {
  return toolsByName.has(name) ? `two MCP tools are called ${name}; the first one counts` : null;
}

/** Converts a tool of a server to a tool of the agent. */
function createAgentTool({ connection, config }: StartedServer, tool: ServerTool): Tool {
  const name = `mcp__${toWireName(connection.name)}__${toWireName(tool.name)}`;
  return {
    name,
    description: tool.description,
    schema: tool.schema,
    // The server's own claim makes calls run in parallel, but allows none.
    kind: tool.isReadOnly ? 'read' : 'execute',
    server: { name: connection.name, source: config.source },
    prepare(rawInput, context) {
      const input = rawInput ?? {};
      if (!isRecord(input)) {
        return `expected the input of ${name} to be an object, found ${getTypeName(input)}`;
      }
      const params = { name: tool.name, arguments: input };
      return { input, run: (call) => callTool(connection, params, context, call) };
    },
  };
}

async function callTool(
  connection: ServerConnection,
  params: Readonly<Record<string, unknown>>,
  context: ToolContext,
  { signal, onProgress }: RunningCall,
): Promise<ToolOutput> {
  try {
    const answer = await connection.request({
      method: 'tools/call',
      params,
      signal,
      onProgress,
      ...selectAsk(context),
    });
    return toToolOutput(parseAnswer(answer), context.spillDirectory);
  } catch (error) {
    return signal.aborted ? createInterruptedOutput() : createFailedOutput(getErrorMessage(error));
  }
}

/** Routes questions of the server during a call to the agent that called. */
function selectAsk({ ports: { elicit } }: ToolContext): { readonly ask?: Ask } {
  return dropUndefined({ ask: elicit });
}

/** Tool names that providers accept. */
const TOOL_NAME = /^[\w-]{1,64}$/;

/** A provider would refuse every request with an invalid name. */
function describeNameProblem({ name }: Tool): string | null {
  if (TOOL_NAME.test(name)) return null;
  return `the MCP tool ${name} is left out: services accept names of at most 64 characters`;
}

type Connections = () => readonly ServerConnection[];

/** Tools for listing and reading the resources of servers. */
export function createResourceTools(connections: Connections): readonly Tool[] {
  return [createListTool(connections), createReadTool(connections)];
}

function createListTool(connections: Connections): Tool {
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
    parse: (fields) => ({ server: fields.optionalText('server') }),
    async run({ server }, context, { signal }) {
      const selected = connections().filter(({ name }) => server === null || name === server);
      if (server !== null && selected.length === 0) return failUnknownServer(server, connections());
      const listed = await Promise.all(selected.map((each) => listResources(each, signal)));
      if (signal.aborted) return createInterruptedOutput();
      const resources = listed.flat();
      const text = resources.length === 0 ? 'No resources found.' : JSON.stringify(resources);
      return { response: resources, text: limitText(text, context.spillDirectory), success: true };
    },
  });
}

/** A server that does not answer is listed with its error. */
async function listResources(connection: ServerConnection, signal: AbortSignal): Promise<object[]> {
  const { name: server } = connection;
  try {
    return (await connection.resources(signal)).map((each) => ({ ...each, server }));
  } catch (error) {
    return [{ server, error: getErrorMessage(error) }];
  }
}

function failUnknownServer(server: string, connections: readonly ServerConnection[]) {
  const names = connections.map(({ name }) => name).join(', ');
  return createFailedOutput(
    `MCP server "${server}" not found, or it has no resources. Servers with resources: ${names}.`,
  );
}

function createReadTool(connections: Connections): Tool {
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
    parse: (fields) => ({ server: fields.requiredText('server'), uri: fields.requiredText('uri') }),
    async run({ server, uri }, context, { signal }) {
      const connection = connections().find(({ name }) => name === server);
      if (connection === undefined) return failUnknownServer(server, connections());
      const answer = await connection.request({
        method: 'resources/read',
        params: { uri },
        signal,
        ...selectAsk(context),
      });
      return toToolOutput(
        { blocks: parseContents(answer), isError: false },
        context.spillDirectory,
      );
    },
  });
}

/** The slash command `/mcp__server__prompt`: the server returns its text. */
export function createPromptCommand(
  connection: ServerConnection,
  prompt: ServerPrompt,
): SlashCommand {
  const name = `mcp__${toWireName(connection.name)}__${toWireName(prompt.name)}`;
  const hint = prompt.arguments.map((each) =>
    each.isRequired ? `<${each.name}>` : `[${each.name}]`,
  );
  return {
    name,
    description: prompt.description,
    argumentHint: hint.length === 0 ? null : hint.join(' '),
    allowedTools: [],
    model: null,
    source: 'mcp',
    file: '',
    text: '',
    fetch: (args, signal) => fetchPrompt(connection, prompt, args, signal),
  };
}

async function fetchPrompt(
  connection: ServerConnection,
  prompt: ServerPrompt,
  args: string,
  signal: AbortSignal,
): Promise<string> {
  const params = { name: prompt.name, arguments: parseArguments(prompt, args) };
  const answer = await connection.request({ method: 'prompts/get', params, signal });
  const text = parsePromptText(answer);
  // A prompt has no spill file for the rest.
  if (text.trim() !== '') return limitText(text, null);
  throw new HooklineError('MCP_FAILED', {
    message: `the MCP server ${connection.name} gave no text for its prompt ${prompt.name}`,
  });
}

/** One word for each argument; the last one takes the rest. */
function parseArguments({ arguments: names }: ServerPrompt, args: string): Record<string, string> {
  const argumentWords = splitArguments(args);
  const values: Record<string, string> = {};
  for (const [index, { name }] of names.entries()) {
    const isLast = index === names.length - 1;
    const value = isLast ? argumentWords.slice(index).join(' ') : argumentWords[index];
    if (value !== undefined && value !== '') values[name] = value;
  }
  return values;
}
