import { isatty } from 'node:tty';
import { readSurroundings } from '../../host/surroundings.ts';
import {
  type AgentFlags,
  toAgentOptions,
  trimToNull,
  checkFlagConflicts,
  toSessionRequest,
  createUsageError,
} from '../agent-flags.ts';
import type { Command } from '../context.ts';

/** `hookline chat [PROMPT]`: interactive chat in the terminal. */
export const runChat: Command<AgentFlags> = async (context, flags) => {
  checkTerminal();
  checkFlagConflicts(flags);
  const agent = toAgentOptions(flags);
  const request = toSessionRequest(flags);
  const { openChatApp } = await import('../chat/app.ts');
  const app = openChatApp(context, readSurroundings().cwd);
  try {
    await app.waitUntilDrawn();
    const { withHost } = await import('../context.ts');
    return await withHost(
      context,
      async (host) => {
        try {
          return await app.run(host, request, trimToNull(flags.prompt ?? ''));
        } finally {
          // Closed first, so that the output of --debug appears below the chat.
          await app.close();
        }
      },
      { ...agent, ...app.hostOptions, watch: 'soon' },
      app.showNote,
    );
  } finally {
    await app.close();
  }
};

function checkTerminal(): void {
  if (isatty(0) && isatty(1)) return;
  throw createUsageError(
    '`hookline chat` requires a terminal',
    'Use `hookline run "…"` for non-interactive runs.',
  );
}
