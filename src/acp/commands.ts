import type * as acp from '@agentclientprotocol/sdk';
import type { SlashCommand } from '../agent/instructions/commands.ts';
import type { Session } from '../agent/session/session.ts';
import type { Host } from '../host/create-host.ts';

/** Built-in commands: what the protocol has no request for. */
const OWN: readonly acp.AvailableCommand[] = [
  {
    name: 'compact',
    description: 'Compact the conversation',
    input: { hint: 'what to keep' },
  },
  {
    name: 'model',
    description: 'Show or switch the model',
    input: { hint: 'its name, or provider/name' },
  },
];

/** All slash commands of a session. A user's command does not replace a built-in one. */
export function listCommands(commands: readonly SlashCommand[]): acp.AvailableCommand[] {
  const written = commands.filter(({ name }) => !OWN.some((own) => own.name === name));
  return [
    ...OWN,
    ...written.map(({ name, description, argumentHint }) => ({
      name,
      description,
      input: argumentHint === null ? null : { hint: argumentHint },
    })),
  ];
}

interface OwnCommandPlace {
  readonly host: Host;
  readonly session: Session;
  /** Aborts when the prompt is cancelled. */
  readonly signal: AbortSignal;
}

/** Runs a built-in command and returns its reply; null when the text is no built-in command. */
export async function runOwnCommand(text: string, place: OwnCommandPlace): Promise<string | null> {
  const [, name, args = ''] = /^\/(\w+)(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  if (name === 'compact') return compact(place.session, args.trim());
  if (name === 'model') return showOrSwitch(place, args.trim());
  return null;
}

async function compact(session: Session, instructions: string): Promise<string> {
  const problem = await session.compact(instructions === '' ? null : instructions);
  // Success is reported by the `compaction-end` event.
  return problem === null ? '' : `Conversation not compacted: ${problem}`;
}

async function showOrSwitch(place: OwnCommandPlace, name: string): Promise<string> {
  const { host, session, signal } = place;
  if (name !== '') {
    const refusal = await host.switchModel(session.id, name, { source: 'command', signal });
    if (refusal !== null) return refusal;
  }
  const { provider, id } = session.state().model;
  return `The model is ${id} (${provider}).`;
}
