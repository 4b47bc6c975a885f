import type { InstallPlace } from '../install.ts';

/** The hooks and bus events that the plugin forwards. */
export const PLUGIN_EVENTS = [
  'chat.message',
  'tool.execute.before',
  'tool.execute.after',
  'event:session.created',
  'event:session.idle',
  'event:session.compacted',
  'event:session.error',
  'event:session.deleted',
  'event:permission.asked',
  'event:permission.updated',
];

export const PLUGIN_NOTICE =
  '// Written by `hookline agents enable opencode`; `hookline agents disable opencode` removes it.';

/** Formats the plugin. It starts our script and waits for nothing, so that opencode is never held up. */
export function formatPlugin({ surroundings, script }: InstallPlace): string {
  const { platform, nodePath } = surroundings;
  const command = platform === 'win32' ? [nodePath, script, 'opencode'] : [script, 'opencode'];
  const busEvents = PLUGIN_EVENTS.flatMap((name) => /^event:(.*)$/.exec(name)?.[1] ?? []);
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

const BUS_EVENTS = new Set(${JSON.stringify(busEvents)});

export const Hookline = async ({ directory, worktree }) => {
  const send = (hook, input, output) =>
    forward({ hook, directory, worktree, at: Date.now(), input, output });
  return {
    event: async ({ event }) => {
      if (BUS_EVENTS.has(event.type)) send('event:' + event.type, event.properties, null);
    },
    'chat.message': async (input, { message, parts }) => {
      send('chat.message', input, { role: message?.role, parts });
    },
    'tool.execute.before': async (input, output) => {
      send('tool.execute.before', input, output);
    },
    'tool.execute.after': async (input, output) => {
      send('tool.execute.after', input, output);
    },
  };
};
`;
}
