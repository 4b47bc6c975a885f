import type * as acp from '@agentclientprotocol/sdk';
import type { SlashCommand } from '../agent/instructions/commands.ts';
import type { Session } from '../agent/session/session.ts';
import type { Host } from '../host/create-host.ts';

/** What the protocol has no request for, or what people like to type. */
const OWN: readonly acp.AvailableCommand[] = [
  {
    name: 'compact',
    description: 'Sum up the conversation, to make room',
    input: { hint: 'what must be kept' },
  },
  {
    name: 'model',
    description: 'Show the model, or go on with another',
    input: { hint: 'its name, or provider/name' },
  },
];

/** All that `/name` means in a session. A command that somebody wrote does not hide one of these. */
export function commandsOf(commands: readonly SlashCommand[]): acp.AvailableCommand[] {
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

/** Does what an own command asks for and says what came of it; null when the text is none. */
export async function runOwnCommand(text: string, place: OwnCommandPlace): Promise<string | null> {
  const [, name, args = ''] = /^\/(\w+)(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  if (name === 'compact') return compact(place.session, args.trim());
  if (name === 'model') return showOrSwitch(place, args.trim());
  return null;
}

async function compact(session: Session, instructions: string): Promise<string> {
  const problem = await session.compact(instructions === '' ? null : instructions);
  // That it was done is told by the event.
  return problem === null ? '' : `The conversation was not summed up: ${problem}`;
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
