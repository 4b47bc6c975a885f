import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

/** What the model does in a task: it calls these tools one after the other, and then says that it is done. */
export interface ScriptedTask {
  readonly command: string;
}

/** One request that an agent made, as far as the tests look at it. */
export interface ModelRequest {
  readonly path: string;
  readonly body: unknown;
}

export interface ModelService {
  readonly url: string;
  readonly requests: readonly ModelRequest[];
  close(): Promise<void>;
}

/** The names under which agents offer a shell to the model, and the key of its command. */
const SHELL_TOOLS: Readonly<Record<string, string>> = {
  Bash: 'command',
  bash: 'command',
  shell: 'command',
  shell_command: 'command',
  exec_command: 'cmd',
  local_shell: 'command',
  run_shell_command: 'command',
  run_commands: 'commands',
  execute_command: 'command',
};

/**
 * A model on this machine that speaks the protocols of the agents: it calls the shell once in each
 * conversation, and answers "done" once the result is there. A request that offers no shell, such as one
 * for a title, gets a text.
 */
export async function startModelService(task: ScriptedTask): Promise<ModelService> {
  const requests: ModelRequest[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then((text) => {
      const body = parseBody(text);
      const path = request.url ?? '/';
      requests.push({ path, body });
      answerRequest(path, body, task, response);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${getPort(server)}`, requests, close: () => closeServer(server) };
}

function getPort(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => void server.close(() => resolve()));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

type Json = Readonly<Record<string, unknown>>;

function parseBody(text: string): Json {
  try {
    return toRecord(JSON.parse(text));
  } catch {
    return {};
  }
}

function toRecord(value: unknown): Json {
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value))
    : {};
}

function toList(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(toRecord) : [];
}

/** What the model says next: a call of the shell, or a text. */
type Turn = { readonly tool: string; readonly input: Json } | { readonly text: string };

function answerRequest(
  path: string,
  body: Json,
  task: ScriptedTask,
  response: ServerResponse,
): void {
  if (path.includes('/responses')) return answerResponses(body, task, response);
  if (path.includes('/chat/completions')) return answerChat(body, task, response);
  if (path.includes('/messages')) return answerMessages(path, body, task, response);
  if (path.includes('enerateContent')) return answerGemini(path, body, task, response);
  const models = { object: 'list', data: [{ id: 'fake', object: 'model', owned_by: 'interop' }] };
  sendJson(response, path.includes('/models') ? models : {});
}

function decideTurn(names: readonly string[], hasResult: boolean, { command }: ScriptedTask): Turn {
  const tool = names.find((name) => name in SHELL_TOOLS);
  if (hasResult || tool === undefined) return { text: 'done' };
  const key = SHELL_TOOLS[tool] ?? 'command';
  const value = describeCommand(tool, command);
  return { tool, input: { [key]: value, ...describeCall(tool) } };
}

/** Two agents take lists: words of one command, or several commands. */
function describeCommand(tool: string, command: string): unknown {
  if (tool === 'shell' || tool === 'local_shell') return ['bash', '-lc', command];
  return tool === 'run_commands' ? [command] : command;
}

/** What some tools require beside the command. */
function describeCall(tool: string): Json {
  if (tool === 'execute_command') return { requires_approval: false };
  const isDescribed = ['Bash', 'bash', 'run_shell_command'].includes(tool);
  return isDescribed ? { description: 'Run the command' } : {};
}

function sendJson(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function sendEvents(
  response: ServerResponse,
  events: readonly (readonly [string | null, unknown])[],
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [name, data] of events) {
    if (name !== null) response.write(`event: ${name}\n`);
    response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
  }
  response.end();
}

const USAGE = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };

/** OpenAI's Responses API, which Codex speaks. */
function answerResponses(body: Json, task: ScriptedTask, response: ServerResponse): void {
  const names = toList(body['tools']).map((tool) => String(tool['name'] ?? tool['type']));
  const hasResult = toList(body['input']).some(({ type }) => String(type).endsWith('_call_output'));
  const turn = decideTurn(names, hasResult, task);
  const item =
    'text' in turn
      ? {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: turn.text, annotations: [] }],
        }
      : {
          type: 'function_call',
          id: 'fc_1',
          call_id: 'call_1',
          name: turn.tool,
          arguments: JSON.stringify(turn.input),
          status: 'completed',
        };
  const whole = {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model: 'fake',
    output: [item],
    usage: USAGE,
  };
  if (body['stream'] !== true) return sendJson(response, whole);
  sendEvents(response, [
    [
      'response.created',
      { type: 'response.created', response: { ...whole, status: 'in_progress', output: [] } },
    ],
    ['response.output_item.added', { type: 'response.output_item.added', output_index: 0, item }],
    ['response.output_item.done', { type: 'response.output_item.done', output_index: 0, item }],
    ['response.completed', { type: 'response.completed', response: whole }],
  ]);
}

/** OpenAI's chat completions, which most agents speak. */
function answerChat(body: Json, task: ScriptedTask, response: ServerResponse): void {
  const names = toList(body['tools']).map((tool) => String(toRecord(tool['function'])['name']));
  const hasResult = toList(body['messages']).some(({ role }) => role === 'tool');
  const turn = decideTurn(names, hasResult, task);
  const message =
    'text' in turn
      ? { role: 'assistant', content: turn.text }
      : {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              index: 0,
              id: 'call_1',
              type: 'function',
              function: { name: turn.tool, arguments: JSON.stringify(turn.input) },
            },
          ],
        };
  const finish = 'text' in turn ? 'stop' : 'tool_calls';
  const base = { id: 'chatcmpl-1', created: 1, model: 'fake' };
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  if (body['stream'] !== true) {
    return sendJson(response, {
      ...base,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: finish }],
      usage,
    });
  }
  const chunk = { ...base, object: 'chat.completion.chunk' };
  sendEvents(response, [
    [null, { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] }],
    [null, { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: finish }], usage }],
    [null, '[DONE]'],
  ]);
}

/** Anthropic's Messages API, which Claude Code speaks. */
function answerMessages(
  path: string,
  body: Json,
  task: ScriptedTask,
  response: ServerResponse,
): void {
  if (path.includes('count_tokens')) return sendJson(response, { input_tokens: 10 });
  const names = toList(body['tools']).map(({ name }) => String(name));
  const hasResult = toList(body['messages']).some(({ content }) =>
    toList(content).some(({ type }) => type === 'tool_result'),
  );
  const turn = decideTurn(names, hasResult, task);
  const usage = { input_tokens: 10, output_tokens: 5 };
  const block =
    'text' in turn
      ? { type: 'text', text: turn.text }
      : { type: 'tool_use', id: 'toolu_1', name: turn.tool, input: turn.input };
  const stopReason = 'text' in turn ? 'end_turn' : 'tool_use';
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'fake',
    content: [block],
    stop_reason: stopReason,
    stop_sequence: null,
    usage,
  };
  if (body['stream'] !== true) return sendJson(response, message);
  const start = 'text' in turn ? { type: 'text', text: '' } : { ...block, input: {} };
  const delta =
    'text' in turn
      ? { type: 'text_delta', text: turn.text }
      : { type: 'input_json_delta', partial_json: JSON.stringify(turn.input) };
  sendEvents(response, [
    [
      'message_start',
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    ],
    ['content_block_start', { type: 'content_block_start', index: 0, content_block: start }],
    ['content_block_delta', { type: 'content_block_delta', index: 0, delta }],
    ['content_block_stop', { type: 'content_block_stop', index: 0 }],
    [
      'message_delta',
      { type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage },
    ],
    ['message_stop', { type: 'message_stop' }],
  ]);
}

/** Gemini's own API. */
function answerGemini(
  path: string,
  body: Json,
  task: ScriptedTask,
  response: ServerResponse,
): void {
  const names = toList(body['tools']).flatMap((tool) =>
    toList(tool['functionDeclarations']).map(({ name }) => String(name)),
  );
  const hasResult = toList(body['contents']).some(({ parts }) =>
    toList(parts).some((part) => 'functionResponse' in part),
  );
  const turn = decideTurn(names, hasResult, task);
  const part =
    'text' in turn ? { text: turn.text } : { functionCall: { name: turn.tool, args: turn.input } };
  const whole = {
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    modelVersion: 'fake',
  };
  if (!path.includes('stream')) return sendJson(response, whole);
  sendEvents(response, [[null, whole]]);
}
