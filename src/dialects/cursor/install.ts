import path from 'node:path';
import type { AgentInstall } from '../install.ts';
import { createEntries, joinIfKnown, TIME_LIMIT_SECONDS } from '../install-settings.ts';

/** The general event of each moment: the one for shell commands fires for the same call. */
const EVENTS = [
  'sessionStart',
  'beforeSubmitPrompt',
  'preToolUse',
  'postToolUse',
  'postToolUseFailure',
  'subagentStart',
  'subagentStop',
  'preCompact',
  'stop',
  'sessionEnd',
];

/** Cursor's `hooks.json`: entries without groups, which must not contain an address. */
export const cursorInstall: AgentInstall = {
  title: 'Cursor',
  programs: ['cursor', 'cursor-agent'],
  readsHooks: 'at once',
  events: EVENTS,
  listDirectories: ({ home }) => joinIfKnown(home, '.cursor'),
  listFiles: ({ surroundings, scope, project, command }) =>
    (scope === 'project'
      ? [path.join(project, '.cursor', 'hooks.json')]
      : joinIfKnown(surroundings.home, '.cursor', 'hooks.json')
    ).map((file) => ({
      kind: 'entries',
      path: file,
      container: ['hooks'],
      skeleton: { version: 1 },
      entries: createEntries(EVENTS, { command, timeout: TIME_LIMIT_SECONDS }),
    })),
  matcher: { tools: ['Shell', 'Read', 'Write', 'Grep', 'Delete', 'Task'] },
  timeLimit: { keys: ['timeout'], unitMs: 1000 },
};
