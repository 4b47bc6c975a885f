import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { FiredEvent } from '../../src/hooks/facts.ts';
import { createPlace, openHost, type Place } from '../places.ts';
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
    bound: { of: 'ms', atMost: 0.05, because: 'asking which hooks fit must cost next to nothing' },
    open: openChoosing,
  },
];

async function openLoading({ quick }: RowOptions): Promise<Contest> {
  const { place, host } = await openConfigured();
  return {
    samples: quick ? 30 : 100,
    batch: 1,
    us: () => host.rescan(),
    async close() {
      await host.close();
      place.remove();
    },
  };
}

// No entry is for this tool, so that nothing but the choice is measured.
const TOOL_CALL: FiredEvent = {
  name: 'PreToolUse',
  tool: { callId: 'call-1', name: 'WebSearch', input: { query: 'hooks' } },
};

async function openChoosing({ quick }: RowOptions): Promise<Contest> {
  const { place, host } = await openConfigured();
  const { skipped } = await host.engine.dispatch(TOOL_CALL);
  if (skipped.length !== ENTRIES) throw new Error(`${skipped.length} hooks were skipped`);
  return {
    samples: quick ? 100 : 500,
    batch: 20,
    us: () => host.engine.dispatch(TOOL_CALL),
    async close() {
      await host.close();
      place.remove();
    },
  };
}

async function openConfigured() {
  const place = createPlace();
  const roots = Array.from({ length: FILES }, (_, index) => writeSettings(place, index));
  const host = await openHost(place, { roots, flags: { 'trace.enabled': false } });
  const found = host.hooks().length;
  if (found !== ENTRIES) throw new Error(`found ${found} hooks`);
  return { place, host };
}

const MATCHERS = ['Bash', 'Edit|Write', 'Edit|MultiEdit|Write', '^Notebook', 'mcp__.*'];

function writeSettings({ workspace }: Place, file: number): string {
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
