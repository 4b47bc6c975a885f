import type { ClaudeEvent } from '../names.ts';

/** Every field that `hookSpecificOutput` can have on some event. */
export const SPECIFIC_FIELDS = [
  'permissionDecision',
  'permissionDecisionReason',
  'updatedInput',
  'additionalContext',
  'decision',
  'updatedToolOutput',
  'updatedMCPToolOutput',
  'classifierContext',
  'sessionTitle',
  'suppressOriginalPrompt',
  'updatedPrompt',
  'initialUserMessage',
  'watchPaths',
  'reloadSkills',
  'retry',
  'action',
  'content',
  'worktreePath',
  'displayContent',
] as const;
export type SpecificField = (typeof SPECIFIC_FIELDS)[number];

const CONTEXT: readonly SpecificField[] = ['additionalContext'];
const WATCH: readonly SpecificField[] = ['watchPaths'];
const ELICITED: readonly SpecificField[] = ['action', 'content'];

/** What is read of `hookSpecificOutput` on each event. */
export const READ_FIELDS: Readonly<Record<ClaudeEvent, readonly SpecificField[]>> = {
  PreToolUse: [
    'permissionDecision',
    'permissionDecisionReason',
    'updatedInput',
    'additionalContext',
  ],
  PostToolUse: [
    'additionalContext',
    'updatedToolOutput',
    'updatedMCPToolOutput',
    'classifierContext',
  ],
  PostToolUseFailure: CONTEXT,
  PostToolBatch: CONTEXT,
  PermissionDenied: ['retry'],
  Notification: CONTEXT,
  UserPromptSubmit: [
    'additionalContext',
    'sessionTitle',
    'suppressOriginalPrompt',
    'updatedPrompt',
  ],
  UserPromptExpansion: ['additionalContext', 'suppressOriginalPrompt'],
  SessionStart: [
    'additionalContext',
    'initialUserMessage',
    'sessionTitle',
    'watchPaths',
    'reloadSkills',
  ],
  Stop: CONTEXT,
  StopFailure: [],
  SubagentStart: CONTEXT,
  SubagentStop: CONTEXT,
  PreCompact: [],
  PostCompact: [],
  PreModelSwitch: ['permissionDecision', 'permissionDecisionReason'],
  PostModelSwitch: CONTEXT,
  SessionEnd: [],
  PermissionRequest: ['decision'],
  Setup: CONTEXT,
  TeammateIdle: [],
  TaskCreated: [],
  TaskCompleted: [],
  Elicitation: ELICITED,
  ElicitationResult: ELICITED,
  ConfigChange: [],
  InstructionsLoaded: [],
  WorktreeCreate: ['worktreePath'],
  WorktreeRemove: [],
  CwdChanged: WATCH,
  FileChanged: WATCH,
  DirectoryAdded: [],
  MessageDisplay: ['displayContent'],
};

const READ_AT_THE_TOP = [
  'continue',
  'stopReason',
  'suppressOutput',
  'systemMessage',
  'terminalSequence',
  'decision',
  'reason',
  'hookSpecificOutput',
  'async',
  'asyncTimeout',
];

type Given = Readonly<Record<string, unknown>>;

/** Names the keys that nothing reads, so that a misplaced or misspelt one does not just vanish. */
export function noteUnreadKeys(event: ClaudeEvent, answer: Given, specific: Given): string[] {
  const unread = Object.keys(answer).filter((key) => !READ_AT_THE_TOP.includes(key));
  const misplaced = unread.filter((key) => isSpecific(key));
  const unknown = unread.filter((key) => !isSpecific(key));
  const inside = Object.keys(specific).filter(
    (key) => key !== 'hookEventName' && !READ_FIELDS[event].some((field) => field === key),
  );
  const [belong, were] = misplaced.length > 1 ? ['belong', 'were'] : ['belongs', 'was'];
  return [
    ...note(
      misplaced,
      (keys) => `${keys} ${belong} into hookSpecificOutput and ${were} not read here`,
    ),
    ...note(unknown, (keys) => `unknown and not read: ${keys}`),
    ...note(inside, (keys) => `not read in hookSpecificOutput on ${event}: ${keys}${meant(event)}`),
  ];
}

function isSpecific(key: string): boolean {
  return SPECIFIC_FIELDS.some((field) => field === key);
}

function meant(event: ClaudeEvent): string {
  if (event === 'PreCompact') return '; plain text on stdout instructs whoever makes the summary';
  const fields = READ_FIELDS[event];
  return fields.length === 0 ? '' : `; it reads ${fields.join(', ')}`;
}

const MOST_KEYS = 5;
const MOST_KEY_CHARACTERS = 60;

function note(keys: readonly string[], say: (keys: string) => string): string[] {
  if (keys.length === 0) return [];
  const shown = keys.slice(0, MOST_KEYS).map((key) => `"${key.slice(0, MOST_KEY_CHARACTERS)}"`);
  const more = keys.length > MOST_KEYS ? ` and ${keys.length - MOST_KEYS} more` : '';
  return [say(`${shown.join(', ')}${more}`)];
}
