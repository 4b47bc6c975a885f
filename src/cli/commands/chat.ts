import { isatty } from 'node:tty';
import { readSurroundings } from '../../host/config.ts';
import {
  type AgentFlags,
  agentOptions,
  filledText,
  refuseContradictions,
  sessionWish,
  usage,
} from '../agent-flags.ts';
import type { Command } from '../context.ts';

/** `hookline chat [PROMPT]`: an agent to talk with, in a terminal. */
export const chat: Command<AgentFlags> = async (context, flags) => {
  refuseWithoutTerminal();
  refuseContradictions(flags);
  const agent = agentOptions(flags);
  const wish = sessionWish(flags);
  const { openRoom } = await import('../chat/room.ts');
  const room = openRoom(context, readSurroundings().cwd);
  try {
    await room.drawn();
    const { withHost } = await import('../context.ts');
    return await withHost(
      context,
      async (host) => {
        try {
          return await room.converse(host, {
            wish,
            prompt: filledText(flags.prompt ?? ''),
          });
        } finally {
          // What --debug prints comes after it.
          await room.close();
        }
      },
      { ...agent, ...room.observing, watch: 'soon' },
    );
  } finally {
    await room.close();
  }
};

function refuseWithoutTerminal(): void {
  if (isatty(0) && isatty(1)) return;
  throw usage(
    '`hookline chat` needs a terminal to talk in',
    'Use `hookline run "…"` where nobody types.',
  );
}
