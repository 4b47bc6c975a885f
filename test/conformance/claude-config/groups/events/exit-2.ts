import { expect } from 'vitest';
import {
  type ClaudeEvent,
  CLAUDE_EVENTS,
  CLAUDE_EVENT_NAMES,
} from '../../../../../src/dialects/claude/events.ts';
import { command, type Group, hooks, type OpenFixture } from '../../fixture.ts';

const COMPLAINS = 'echo no >&2; exit 2';

/** What exit code 2 does: it refuses, it is reported to the user, or nothing happens. */
const MEANINGS: Readonly<Record<ClaudeEvent, 'refuses' | 'reported' | 'nothing'>> = {
  PreToolUse: 'refuses',
  PostToolUse: 'refuses',
  PostToolUseFailure: 'refuses',
  PostToolBatch: 'refuses',
  PermissionDenied: 'nothing',
  Notification: 'nothing',
  UserPromptSubmit: 'refuses',
  UserPromptExpansion: 'refuses',
  SessionStart: 'reported',
  Stop: 'refuses',
  StopFailure: 'nothing',
  SubagentStart: 'reported',
  SubagentStop: 'refuses',
  PreCompact: 'refuses',
  PostCompact: 'reported',
  PreModelSwitch: 'refuses',
  PostModelSwitch: 'nothing',
  SessionEnd: 'reported',
  PermissionRequest: 'nothing',
  Setup: 'reported',
  TeammateIdle: 'refuses',
  TaskCreated: 'refuses',
  TaskCompleted: 'refuses',
  Elicitation: 'refuses',
  ElicitationResult: 'refuses',
  ConfigChange: 'refuses',
  InstructionsLoaded: 'nothing',
  WorktreeCreate: 'refuses',
  WorktreeRemove: 'nothing',
  CwdChanged: 'reported',
  FileChanged: 'reported',
  DirectoryAdded: 'nothing',
  MessageDisplay: 'nothing',
};

const FACTS: Readonly<Partial<Record<ClaudeEvent, object>>> = {
  StopFailure: { status: 'failed', errorClass: 'rate_limit' },
};

/** Described for every event; recorded for some. */
export const exitTwo: Group = {
  name: 'exit-2',
  cases: CLAUDE_EVENT_NAMES.map((event) => ({
    name: `${event}: ${MEANINGS[event]}`,
    run: async (openFixture: OpenFixture) => {
      const { fire } = await openFixture({ project: hooks(event, [command(COMPLAINS)]) });
      const verdict = await fire(CLAUDE_EVENTS[event].event, { ...FACTS[event] });
      const meaning = MEANINGS[event];
      expect(verdict.outcomes.map(({ status, exitCode }) => [status, exitCode])).toEqual([
        ['decided', 2],
      ]);
      expect(verdict.effect).toBe(meaning === 'refuses' ? 'deny' : 'pass');
      const reasons = verdict.reasons.map(({ text }) => text);
      expect(reasons).toEqual(meaning === 'refuses' ? [`[${COMPLAINS}]: no`] : []);
      if (meaning === 'reported') expect(verdict.messages.map(({ text }) => text)).toEqual(['no']);
    },
  })),
};
