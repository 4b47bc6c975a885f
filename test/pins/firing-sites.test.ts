import { type ESTree, Visitor } from 'rolldown/utils';
import { describe, expect, it } from 'vitest';
import { readSourceFiles } from '../../scripts/source-files.ts';
import { EVENT_NAMES } from '../../src/hooks/events.ts';
import type { EventName } from '../../src/hooks/facts.ts';

/** Where each event is fired: whoever causes a moment fires it, in one file. */
const SITES: Readonly<Partial<Record<EventName, string>>> = {
  SessionStart: 'src/agent/session/session-start.ts',
  Setup: 'src/agent/session/session.ts',
  SessionEnd: 'src/agent/session/session.ts',
  DirectoryAdded: 'src/agent/session/session.ts',
  FileChanged: 'src/agent/session/session.ts',
  InstructionsLoaded: 'src/agent/loop/background-events.ts',
  // Made here, because only the session knows which of the two it is; src/agent/session/prompt.ts fires it.
  TaskStart: 'src/agent/session/prepare-session.ts',
  TaskResume: 'src/agent/session/prepare-session.ts',
  UserPromptExpansion: 'src/agent/session/prompt.ts',
  Elicitation: 'src/agent/session/elicitation.ts',
  ElicitationResult: 'src/agent/session/elicitation.ts',
  PreModelSwitch: 'src/agent/session/switch-model.ts',
  PostModelSwitch: 'src/agent/session/switch-model.ts',
  UserPromptSubmit: 'src/agent/loop/steering.ts',
  RunStart: 'src/agent/run.ts',
  RunEnd: 'src/agent/run.ts',
  ModelRequest: 'src/agent/loop/model-turn.ts',
  ModelResponse: 'src/agent/loop/model-turn.ts',
  MessageDisplay: 'src/agent/loop/model-turn.ts',
  PreToolUse: 'src/agent/loop/tool-call.ts',
  PostToolUse: 'src/agent/loop/tool-call.ts',
  PostToolUseFailure: 'src/agent/loop/tool-call.ts',
  CwdChanged: 'src/agent/loop/tool-call.ts',
  PermissionRequest: 'src/agent/loop/approval.ts',
  Notification: 'src/agent/loop/background-events.ts',
  PostToolBatch: 'src/agent/loop/tool-batch.ts',
  PreCompact: 'src/agent/loop/compaction.ts',
  PostCompact: 'src/agent/loop/compaction.ts',
  SubagentStart: 'src/agent/subagent.ts',
  SubagentStop: 'src/agent/loop/ending.ts',
  Stop: 'src/agent/loop/ending.ts',
  TaskComplete: 'src/agent/loop/ending.ts',
  TaskCreated: 'src/agent/task-items.ts',
  TaskCompleted: 'src/agent/task-items.ts',
  WorktreeCreate: 'src/host/worktrees.ts',
  WorktreeRemove: 'src/host/worktrees.ts',
  ConfigChange: 'src/host/watch-hook-files.ts',
};

/** Events that nothing fires yet, but `hooks fire` and agents that embed the engine. */
const NOT_FIRED: readonly EventName[] = ['PermissionDenied', 'TeammateIdle'];

/**
 * Those that make up events for others to try their hooks with, or read them, fire none. The hooks for an agent
 * without a session (`createHookConfigFileHooks`) pass its moments on to another engine, as any embedding agent does.
 */
const NOT_LOOKED_AT =
  /^src\/(?:(?:cli|dialects|hooks|testing)\/|compat\/cline\/provided\/agent-hooks\.ts)/;

const sources = readSourceFiles('.', ['src']).filter(({ path }) => !NOT_LOOKED_AT.test(path));

/** The events that a file writes down as `{ name: 'Event', … }`. */
function eventsMadeIn(program: ESTree.Program): Set<string> {
  const names = new Set<string>();
  new Visitor({
    Property: ({ key, value }) => {
      if (key.type !== 'Identifier' || key.name !== 'name' || value.type !== 'Literal') return;
      if (typeof value.value === 'string') names.add(value.value);
    },
  }).visit(program);
  return names;
}

const eventsByFile = sources.map(({ path, program }) => ({ path, events: eventsMadeIn(program) }));

function sitesOf(event: EventName): readonly string[] {
  return eventsByFile.filter(({ events }) => events.has(event)).map(({ path }) => path);
}

describe('every event has one firing site:', () => {
  it.each(Object.entries(SITES))('%s in %s', (event, site) => {
    const name = EVENT_NAMES.find((each) => each === event);
    expect(name === undefined ? [] : sitesOf(name)).toEqual([site]);
  });

  it.each(NOT_FIRED)('%s nowhere yet', (event) => {
    expect(sitesOf(event)).toEqual([]);
  });

  it('and the table has every event', () => {
    expect([...Object.keys(SITES), ...NOT_FIRED].toSorted()).toEqual([...EVENT_NAMES].toSorted());
  });
});
