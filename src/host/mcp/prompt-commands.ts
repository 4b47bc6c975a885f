import type { SlashCommand } from '../../agent/instructions/commands.ts';
import { splitArguments } from '../../agent/instructions/expand-command.ts';
import { HooklineError } from '../../base/errors.ts';
import { parsePromptText } from '../../mcp/answer.ts';
import type { ServerConnection } from '../../mcp/connection.ts';
import type { ServerPrompt } from '../../mcp/listing.ts';
import { toWireName } from '../../mcp/server-config.ts';
import { limitText } from './tool-output.ts';

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
