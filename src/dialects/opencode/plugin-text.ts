import type { InstallPlace } from '../install.ts';

/** The events that the plugin forwards, under Claude's names, as the monitors of opencode know them. */
export const PLUGIN_EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'Notification',
  'Stop',
  'SessionEnd',
];

export const PLUGIN_NOTICE =
  '// Written by `hookline agents enable opencode`; `hookline agents disable opencode` removes it.';

/** Formats the plugin. It starts our script and waits for nothing, so that opencode is never held up. */
export function formatPlugin({ surroundings, script }: InstallPlace): string {
  const { platform, nodePath } = surroundings;
  const command = platform === 'win32' ? [nodePath, script, 'opencode'] : [script, 'opencode'];
  return `${PLUGIN_NOTICE}
import { spawn } from 'node:child_process';

const [program, ...args] = ${JSON.stringify(command)};

function forward(event) {
  try {
    const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'ignore'] });
    child.on('error', () => {});
    child.stdin.on('error', () => {});
    child.stdin.end(JSON.stringify(event));
  } catch {
    // A hook that cannot be started must not break the session.
  }
}

const SESSION_EVENTS = {
  'session.created': 'SessionStart',
  'session.idle': 'Stop',
  'session.error': 'Notification',
  'session.deleted': 'SessionEnd',
};

export const Hookline = async ({ directory, worktree }) => {
  const describe = (name, session) => ({
    hook_event_name: name,
    session_id: session ?? null,
    cwd: directory,
    timestamp: new Date().toISOString(),
    _opencode_meta: { directory, worktree },
  });
  return {
    event: async ({ event }) => {
      const name = SESSION_EVENTS[event.type];
      if (name === undefined) return;
      const { sessionID, info, error } = event.properties ?? {};
      forward({
        ...describe(name, sessionID ?? info?.id),
        ...(name === 'SessionStart' ? { source: 'startup' } : {}),
        ...(name === 'Notification' ? { message: String(error?.data?.message ?? error?.name ?? 'error') } : {}),
      });
    },
    'chat.message': async (input, { parts }) => {
      const prompt = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\\n');
      forward({ ...describe('UserPromptSubmit', input.sessionID), prompt });
    },
    'tool.execute.before': async (input, { args: toolInput }) => {
      forward({
        ...describe('PreToolUse', input.sessionID),
        tool_name: input.tool,
        tool_input: toolInput,
        tool_use_id: input.callID,
      });
    },
    'tool.execute.after': async (input, { title, output, metadata }) => {
      forward({
        ...describe('PostToolUse', input.sessionID),
        tool_name: input.tool,
        tool_input: input.args,
        tool_response: { title, output, metadata },
        tool_use_id: input.callID,
      });
    },
  };
};
`;
}
