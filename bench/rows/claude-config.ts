import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { spawnBare } from '../bare.ts';
import { createTempWorkspace, openHost, type TempWorkspace } from '../temp-workspace.ts';
import type { Contest, Row, RowOptions } from '../row.ts';

const FILES = 50;
const ENTRIES_PER_FILE = 20;
const ENTRIES = FILES * ENTRIES_PER_FILE;

/** What many hooks in settings files cost before any of them runs. */
export const claudeConfigRows: readonly Row[] = [
  {
    name: `loading ${ENTRIES} entries of ${FILES} settings files`,
    bound: { of: 'ms', atMost: 100, because: 'nobody waits for a session that opens this fast' },
    open: openLoading,
  },
  {
    name: `choosing among ${ENTRIES} entries of one event`,
    bound: { of: 'ms', atMost: 0.1, because: 'asking which hooks fit must cost next to nothing' },
    open: openChoosing,
  },
  {
    name: '1 command of a settings file, 1 KB',
    bound: { of: 'ratio', atMost: 1.05, because: 'parity with `sh -c` and the same payload' },
    open: openCommand,
  },
];

async function openLoading({ quick }: RowOptions): Promise<Contest> {
  const { place, host } = await openConfigured();
  return {
    samples: quick ? 30 : 100,
    batch: 1,
    us: () => host.rescan(),
    async close() {
      await host.dispose();
      place.remove();
    },
  };
}

const COMMAND = 'exec cat > /dev/null';

async function openCommand({ quick }: RowOptions): Promise<Contest> {
  const place = createTempWorkspace();
  const settings = { hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: COMMAND }] }] } };
  mkdirSync(path.join(place.home, '.claude'), { recursive: true });
  writeFileSync(path.join(place.home, '.claude', 'settings.json'), JSON.stringify(settings));
  const host = await openHost(place, { flags: { 'trace.enabled': false } });
  const call = { ...TOOL_CALL, tool: { ...TOOL_CALL.tool, input: { query: 'x'.repeat(1000) } } };
  const { outcomes } = await host.engine.dispatch(call);
  if (outcomes[0]?.exitCode !== 0) throw new Error('the command did not run');
  const bare = {
    file: '/bin/sh',
    args: ['-c', COMMAND],
    cwd: place.workspace,
    env: place.surroundings.env,
    stdin: JSON.stringify(call),
  };
  const samples = quick ? 100 : 500;
  return {
    samples,
    // As for hooks in files: a host lives longer than V8 needs to compile what it runs.
    warmUps: samples,
    batch: 1,
    us: () => host.engine.dispatch(call),
    bare: () => spawnBare(bare),
    async close() {
      await host.dispose();
      place.remove();
    },
  };
}

// No entry is for this tool, so that nothing but the choice is measured.
const TOOL_CALL = {
  name: 'PreToolUse',
  tool: { callId: 'call-1', name: 'WebSearch', input: { query: 'hooks' } },
} as const;

async function openChoosing({ quick }: RowOptions): Promise<Contest> {
  const { place, host } = await openConfigured();
  const { skipped } = await host.engine.dispatch(TOOL_CALL);
  if (skipped.length !== ENTRIES) throw new Error(`${skipped.length} hooks were skipped`);
  return {
    samples: quick ? 100 : 500,
    batch: 20,
    us: () => host.engine.dispatch(TOOL_CALL),
    async close() {
      await host.dispose();
      place.remove();
    },
  };
}

async function openConfigured() {
  const place = createTempWorkspace();
  const roots = Array.from({ length: FILES }, (_, index) => writeSettings(place, index));
  const host = await openHost(place, { roots, flags: { 'trace.enabled': false } });
  const found = host.hooks().length;
  if (found !== ENTRIES) throw new Error(`found ${found} hooks`);
  return { place, host };
}

const MATCHERS = ['Bash', 'Edit|Write', 'Edit|MultiEdit|Write', '^Notebook', 'mcp__.*'];

function writeSettings({ workspace }: TempWorkspace, file: number): string {
  const root = path.join(workspace, `package-${file}`);
  const groups = Array.from({ length: ENTRIES_PER_FILE }, (_, entry) => ({
    matcher: MATCHERS[entry % MATCHERS.length],
    hooks: [
      {
        type: 'command',
        command: `"$CLAUDE_PROJECT_DIR"/.claude/hooks/check-${file}-${entry}.sh`,
        timeout: 10,
      },
    ],
  }));
  mkdirSync(path.join(root, '.cline'), { recursive: true });
  const settings = { hooks: { PreToolUse: groups } };
  writeFileSync(path.join(root, '.cline', 'hooks.json'), JSON.stringify(settings, null, 2));
  return root;
}
