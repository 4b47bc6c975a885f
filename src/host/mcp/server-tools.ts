import { createInterruptedOutput } from '../../agent/tools/define-tool.ts';
import {
  createFailedOutput,
  type RunningCall,
  type Tool,
  type ToolOutput,
} from '../../agent/tools/tool.ts';
import type { ToolContext } from '../../agent/tools/tool-context.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { isRecord, getTypeName } from '../../base/json.ts';
import { parseAnswer } from '../../mcp/answer.ts';
import type { ServerConnection } from '../../mcp/connection.ts';
import type { ServerTool } from '../../mcp/listing.ts';
import type { Ask } from '../../mcp/pending-calls.ts';
import { type ServerSource, toWireName } from '../../mcp/server-config.ts';
import { toToolOutput } from './tool-output.ts';

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
export function selectAsk({ ports: { elicit } }: ToolContext): { readonly ask?: Ask } {
  return elicit === undefined ? {} : { ask: elicit };
}

/** What services accept as the name of a tool. */
const TOOL_NAME = /^[\w-]{1,64}$/;

/** One name that a service refuses would cost every request. */
function nameProblem({ name }: Tool): string | null {
  if (TOOL_NAME.test(name)) return null;
  return `the MCP tool ${name} is left out: services accept names of at most 64 characters`;
}
