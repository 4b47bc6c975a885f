import { getErrorMessage } from '../base/errors.ts';
import { callWithTimeout } from './call-with-timeout.ts';
import type { AgentExtensionCommand } from './contract/plugin.ts';
import type { PluginGroup } from './loaded-plugin.ts';
import { runAsPlugin } from './plugin-ownership.ts';

/** The result of a plugin's command. */
export interface CommandReply {
  readonly reply: string | null;
  /** The prompt to run next. */
  readonly prompt: string | null;
}

/** Runs the command that a prompt names; null when no plugin has it. Throws only when the signal aborts. */
export async function runCommand(
  prompt: string,
  { plugins, timeoutMs, onIssue }: PluginGroup,
  signal: AbortSignal,
): Promise<CommandReply | null> {
  const [typed = '', ...words] = prompt.trim().split(/\s+/);
  for (const { name, file, contributions } of plugins) {
    const command = findCommand(prompt, contributions.commands);
    if (command === null) continue;
    try {
      const work = () => runAsPlugin(file, () => command.handler?.(words.join(' ')));
      return toReply(await callWithTimeout(work, { timeoutMs, signal }));
    } catch (error) {
      signal.throwIfAborted();
      const message = `the command ${typed} failed: ${getErrorMessage(error)}`;
      onIssue({ plugin: name, phase: 'command', level: 'error', message });
      return { reply: message, prompt: null };
    }
  }
  return null;
}

/** The command that a prompt names; null when no plugin has it, or it has no handler. */
export function findCommand(
  prompt: string,
  commands: readonly AgentExtensionCommand[],
): AgentExtensionCommand | null {
  const [typed = ''] = prompt.trim().split(/\s+/);
  if (!typed.startsWith('/')) return null;
  const command = commands.find(({ name }) => normalizeName(name) === normalizeName(typed));
  return command?.handler === undefined ? null : command;
}

function normalizeName(name: string): string {
  return name.trim().replace(/^\//, '').toLowerCase();
}

function toReply(
  result: string | { reply?: string; submitPrompt?: string } | undefined,
): CommandReply {
  if (typeof result === 'string') return { reply: toTextOrNull(result), prompt: null };
  return { reply: toTextOrNull(result?.reply), prompt: toTextOrNull(result?.submitPrompt) };
}

function toTextOrNull(text: unknown): string | null {
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : null;
}
