import { messageOf } from '../base/errors.ts';
import type { OnIssue } from './issue.ts';
import type { AgentExtensionCommand } from './contract/plugin.ts';
import type { ActivePlugin } from './registry.ts';

/** What a command of a plugin came to. */
export interface CommandReply {
  readonly reply: string | null;
  /** The prompt that shall be run for it. */
  readonly prompt: string | null;
}

/** Runs the command that a prompt names; null when no plugin has it. */
export async function runCommand(
  prompt: string,
  plugins: readonly ActivePlugin[],
  onIssue: OnIssue,
): Promise<CommandReply | null> {
  const [typed = '', ...words] = prompt.trim().split(/\s+/);
  if (!typed.startsWith('/')) return null;
  for (const { name, contributions } of plugins) {
    const command = contributions.commands.find((each) => isMeant(each, typed));
    if (command?.handler === undefined) continue;
    try {
      return replyOf(await command.handler(words.join(' ')));
    } catch (error) {
      const message = `the command ${typed} failed: ${messageOf(error)}`;
      onIssue({ plugin: name, phase: 'command', level: 'error', message });
      return { reply: message, prompt: null };
    }
  }
  return null;
}

function isMeant({ name }: AgentExtensionCommand, typed: string): boolean {
  const plain = (text: string): string => text.trim().replace(/^\//, '').toLowerCase();
  return plain(name) === plain(typed);
}

function replyOf(
  result: string | { reply?: string; submitPrompt?: string } | undefined,
): CommandReply {
  if (typeof result === 'string') return { reply: textOrNull(result), prompt: null };
  return { reply: textOrNull(result?.reply), prompt: textOrNull(result?.submitPrompt) };
}

function textOrNull(text: unknown): string | null {
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : null;
}
