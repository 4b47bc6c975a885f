import type { CommandEntry } from '../../../../src/dialects/claude/entry.ts';
import type { HookEvent } from '../../../../src/hooks/facts.ts';
import { listToolNames, listToolViews } from '../../../../src/tool-vocabularies/tool-views.ts';
import {
  compileEntryMatcher,
  type EntryMatcher,
} from '../../../../src/dialects/claude/match/entry-matcher.ts';
import { MOMENT } from '../../../hooks/handlers.ts';

const CWD = '/ws';

/** A command hook; other fields have harmless defaults. */
export function entryOf(wanted: Partial<CommandEntry> = {}, isCline = false): CommandEntry {
  return {
    type: 'command',
    event: 'PreToolUse',
    matcher: undefined,
    condition: undefined,
    timeoutMs: 1000,
    statusMessage: null,
    once: false,
    onFailure: 'continue',
    source: {
      kind: 'project',
      label: 'project',
      file: '/ws/.claude/settings.json',
      place: 'workspace',
      root: CWD,
      isCline,
      family: 'settings',
      plugin: null,
    },
    line: 1,
    text: '{}',
    notes: [],
    command: 'true',
    args: null,
    shell: null,
    async: false,
    asyncRewake: false,
    rewakeMessage: null,
    rewakeSummary: null,
    ...wanted,
  };
}

export function callEvent(name: string, input: unknown = {}): HookEvent<'PreToolUse'> {
  return { ...MOMENT, cwd: CWD, name: 'PreToolUse', tool: { callId: 'c', name, input } };
}

/** Why each part of a call is not asked about, or null where it is. */
export function whyNot(
  { fits }: EntryMatcher,
  name: string,
  input: unknown = {},
): (string | null)[] {
  const event = callEvent(name, input);
  const views = listToolViews(event.tool, 'claude', { cwd: CWD, root: CWD });
  return views.map((view) => fits(event, listToolNames(event.tool, view), view));
}

export function isAsked(wanted: Partial<CommandEntry>, name: string, input: unknown = {}): boolean {
  return whyNot(compileEntryMatcher(entryOf(wanted)), name, input).includes(null);
}
