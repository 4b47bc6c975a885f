import { createInterruptedOutput, defineTool } from '../../agent/tools/define-tool.ts';
import {
  createFailedOutput,
  type RunningCall,
  type Tool,
  type ToolOutput,
} from '../../agent/tools/tool.ts';
import type { ToolContext } from '../../agent/tools/tool-context.ts';
import { getErrorMessage, HooklineError } from '../../base/errors.ts';
import { isRecord, getTypeName } from '../../base/json.ts';
import { parseAnswer, parseContents, parsePromptText } from '../../mcp/answer.ts';
import type { ServerConnection } from '../../mcp/server-connection.ts';
import type { ServerTool, ServerPrompt } from '../../mcp/server-lists.ts';
import type { Ask } from '../../mcp/pending-calls.ts';
import { type ServerSource, toWireName } from '../../mcp/server-config.ts';
import { toToolOutput, limitText } from './tool-output.ts';
import type { SlashCommand } from '../../agent/instructions/commands.ts';
import { splitArguments } from '../../agent/instructions/expand-command.ts';

/** A connected server, and who configured it. */
export interface NamedConnection {
  readonly connection: ServerConnection;
  readonly source: ServerSource;
}

/** Tools stay the same objects as long as their server does not list others. */
export function createToolFactory(tell: (text: string) => void) {
  const made = new WeakMap<ServerTool, Tool>();
  const toolOf = (named: NamedConnection, tool: ServerTool): Tool => {
    const known = made.get(tool) ?? agentTool(named, tool);
    made.set(tool, known);
    return known;
  };
  return (all: readonly NamedConnection[]): readonly Tool[] => {
    const tools = new Map<string, Tool>();
    const listed = all.flatMap((named) =>
      named.connection.tools.map((tool) => toolOf(named, tool)),
    );
    for (const tool of listed) {
      const problem = nameProblem(tool) ?? repeatOf(tool, tools);
      if (problem === null) tools.set(tool.name, tool);
      else tell(problem);
    }
    return [...tools.values()];
  };
}

function repeatOf({ name }: Tool, known: ReadonlyMap<string, Tool>): string | null {
  return known.has(name) ? `two MCP tools are called ${name}; the first one counts` : null;
}

/** A tool of a server as a tool of the agent. */
function agentTool({ connection, source }: NamedConnection, tool: ServerTool): Tool {
  const name = `mcp__${toWireName(connection.name)}__${toWireName(tool.name)}`;
  return {
    name,
    description: tool.description,
    schema: tool.schema,
    // What a server says of itself lets calls run side by side, and allows none.
    kind: tool.isReadOnly ? 'read' : 'execute',
    server: { name: connection.name, source },
    prepare(given, bench) {
      const input = given ?? {};
      if (!isRecord(input)) {
        return `expected the input of ${name} to be an object, found ${getTypeName(input)}`;
      }
      const params = { name: tool.name, arguments: input };
      return { input, run: (call) => runCall(connection, { params, bench, call }) };
    },
  };
}

interface ServerCall {
  readonly params: Readonly<Record<string, unknown>>;
  readonly bench: ToolContext;
  readonly call: RunningCall;
}

async function runCall(
  connection: ServerConnection,
  { params, bench, call }: ServerCall,
): Promise<ToolOutput> {
  const { signal, onProgress } = call;
  try {
    const answer = await connection.request({
      method: 'tools/call',
      params,
      signal,
      onProgress,
      ...selectAsk(bench),
    });
    return toToolOutput(parseAnswer(answer), bench.spillDirectory);
  } catch (error) {
    return signal.aborted ? createInterruptedOutput() : createFailedOutput(getErrorMessage(error));
  }
}

/** What the server wants to know while the call runs, whoever has made it is asked for. */
function selectAsk({ ports: { elicit } }: ToolContext): { readonly ask?: Ask } {
  return elicit === undefined ? {} : { ask: elicit };
}

/** What services accept as the name of a tool. */
const TOOL_NAME = /^[\w-]{1,64}$/;

/** One name that a service refuses would cost every request. */
function nameProblem({ name }: Tool): string | null {
  if (TOOL_NAME.test(name)) return null;
  return `the MCP tool ${name} is left out: services accept names of at most 64 characters`;
}

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

/** `/mcp__server__prompt`: the server makes the text. */
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
    fetch: (args, signal) => fetchPrompt(connection, { prompt, args }, signal),
  };
}

interface PromptCall {
  readonly prompt: ServerPrompt;
  readonly args: string;
}

async function fetchPrompt(
  connection: ServerConnection,
  { prompt, args }: PromptCall,
  signal: AbortSignal,
): Promise<string> {
  const params = { name: prompt.name, arguments: argumentsFrom(prompt, args) };
  const answer = await connection.request({ method: 'prompts/get', params, signal });
  const text = parsePromptText(answer);
  // What it is put into has no file for the rest.
  if (text.trim() !== '') return limitText(text, null);
  throw new HooklineError('MCP_FAILED', {
    message: `the MCP server ${connection.name} gave no text for its prompt ${prompt.name}`,
  });
}

/** One word for each argument; the last one takes what is left. */
function argumentsFrom({ arguments: names }: ServerPrompt, args: string): Record<string, string> {
  const words = splitArguments(args);
  const filled: Record<string, string> = {};
  for (const [index, { name }] of names.entries()) {
    const isLast = index === names.length - 1;
    const value = isLast ? words.slice(index).join(' ') : words[index];
    if (value !== undefined && value !== '') filled[name] = value;
  }
  return filled;
}
