import { findClosestName } from '../../../base/did-you-mean.ts';
import { isRecord, getTypeName } from '../../../base/json.ts';
import { listMisspeltKeys } from '../../misspelt-fields.ts';
import type { ClaudeEvent } from '../events.ts';

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

/** The fields of `hookSpecificOutput` that each event reads. */
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

/** Warns about keys that nothing reads, which may be misplaced or misspelt. */
function warnAboutKeys(
  event: ClaudeEvent,
  answer: Fields,
  specific: Fields,
  approvalKeys: readonly string[],
): string[] {
  const read = [...READ_AT_THE_TOP, ...approvalKeys];
  const unread = Object.keys(answer).filter((key) => !READ_AT_THE_TOP.includes(key));
  const misplaced = unread.filter((key) => isSpecific(key));
  const unknown = unread.filter((key) => !isSpecific(key));
  const inside = Object.keys(specific).filter(
    (key) => key !== 'hookEventName' && !READ_FIELDS[event].some((field) => field === key),
  );
  const [belong, were] = misplaced.length > 1 ? ['belong', 'were'] : ['belongs', 'was'];
  return [
    ...noteKeys(
      misplaced,
      (keys) => `${keys} ${belong} in hookSpecificOutput and ${were} not read here`,
    ),
    ...noteKeys(
      unknown,
      (keys) => `unknown and not read: ${keys}${suggest(unknown, [...read, ...SPECIFIC_FIELDS])}`,
    ),
    ...noteKeys(
      inside,
      (keys) =>
        `not read in hookSpecificOutput on ${event}: ${keys}${suggest(inside, [...READ_FIELDS[event], ...SPECIFIC_FIELDS])}${describeReadFields(event)}`,
    ),
    ...listMisspeltKeys(specific['decision'], DECISION_KEYS, 'hookSpecificOutput.decision.'),
  ];
}

const DECISION_KEYS = ['behavior', 'updatedInput', 'updatedPermissions', 'message', 'interrupt'];

function suggest(keys: readonly string[], known: readonly string[]): string {
  const meant = new Set(
    keys.flatMap((key) => (known.includes(key) ? [] : (findClosestName(key, known) ?? []))),
  );
  return meant.size === 0 ? '' : `; did you mean ${[...meant].join(', ')}?`;
}

function isSpecific(key: string): boolean {
  return SPECIFIC_FIELDS.some((field) => field === key);
}

function describeReadFields(event: ClaudeEvent): string {
  if (event === 'PreCompact') return '; plain text on stdout gives instructions for the summary';
  const fields = READ_FIELDS[event];
  return fields.length === 0 ? '' : `; it reads ${fields.join(', ')}`;
}

const MOST_KEYS = 5;
const MOST_KEY_CHARACTERS = 60;

function noteKeys(keys: readonly string[], format: (keys: string) => string): string[] {
  if (keys.length === 0) return [];
  const quotedKeys = keys
    .slice(0, MOST_KEYS)
    .map((key) => `"${key.slice(0, MOST_KEY_CHARACTERS)}"`);
  const more = keys.length > MOST_KEYS ? ` and ${keys.length - MOST_KEYS} more` : '';
  return [format(`${quotedKeys.join(', ')}${more}`)];
}

type Fields = Readonly<Record<string, unknown>>;

/** A hook's JSON after validation; absent fields are undefined. */
export interface HookAnswer {
  readonly goesOn: boolean;
  readonly stopReason: string | undefined;
  readonly systemMessage: string | undefined;
  readonly terminalSequence: string | undefined;
  readonly decision: 'approve' | 'block' | undefined;
  readonly reason: string | undefined;
  readonly specific: SpecificOutput;
}

/** `hookSpecificOutput`, with only the fields that the event reads. */
export interface SpecificOutput {
  readonly permissionDecision: 'allow' | 'deny' | 'ask' | 'defer' | undefined;
  readonly permissionDecisionReason: string | undefined;
  readonly updatedInput: Fields | undefined;
  readonly additionalContext: string | undefined;
  readonly decision: PermissionDecision | undefined;
  readonly updatedToolOutput: unknown;
  readonly updatedMcpToolOutput: unknown;
  readonly classifierContext: string | undefined;
  readonly sessionTitle: string | undefined;
  readonly suppressOriginalPrompt: boolean | undefined;
  readonly updatedPrompt: string | undefined;
  readonly initialUserMessage: string | undefined;
  readonly watchPaths: readonly string[] | undefined;
  readonly reloadSkills: boolean | undefined;
  readonly retry: boolean | undefined;
  readonly action: 'accept' | 'decline' | 'cancel' | undefined;
  readonly content: Fields | undefined;
  readonly worktreePath: string | undefined;
  readonly displayContent: string | undefined;
}

/** The answer of a PermissionRequest hook in place of the user. */
export interface PermissionDecision {
  readonly behavior: 'allow' | 'deny';
  readonly updatedInput: Fields | undefined;
  readonly updatedPermissions: readonly unknown[] | undefined;
  readonly message: string | undefined;
  readonly interrupt: boolean | undefined;
}

type CheckedAnswer =
  | { readonly ok: true; readonly answer: HookAnswer; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problem: string; readonly warnings: readonly string[] };

/**
 * Checks a hook's JSON as strictly as Claude does: one field of a wrong type invalidates all of it. `approvalKeys`
 * are further keys that the hook may have meant.
 */
export function checkAnswer(
  event: ClaudeEvent,
  value: Fields,
  approvalKeys: readonly string[] = [],
): CheckedAnswer {
  const read = createReader(value, '');
  const specificFields = read.record('hookSpecificOutput');
  const inside = createReader(selectReadFields(event, specificFields ?? {}), 'hookSpecificOutput.');
  const answer: HookAnswer = {
    goesOn: read.flag('continue') ?? true,
    stopReason: read.text('stopReason'),
    systemMessage: read.text('systemMessage'),
    terminalSequence: read.text('terminalSequence'),
    decision: read.choice('decision', ['approve', 'block']),
    reason: read.text('reason'),
    specific: readSpecific(event, inside),
  };
  read.flag('suppressOutput');
  const problem =
    read.problem() ??
    (specificFields === undefined ? null : findNameProblem(event, specificFields)) ??
    inside.problem();
  const warnings = warnAboutKeys(event, value, specificFields ?? {}, approvalKeys);
  if (problem !== null) {
    return { ok: false, problem: `${problem}${suggestSpelling(value, specificFields)}`, warnings };
  }
  return { ok: true, answer, warnings };
}

function selectReadFields(event: ClaudeEvent, specificFields: Fields): Fields {
  const listed = READ_FIELDS[event].filter((field) => Object.hasOwn(specificFields, field));
  return Object.fromEntries(listed.map((field) => [field, specificFields[field]]));
}

function findNameProblem(event: ClaudeEvent, specificFields: Fields): string | null {
  const name = specificFields['hookEventName'];
  if (name === event) return null;
  if (name === undefined) {
    return `expected "hookSpecificOutput.hookEventName" to be "${event}", and it is missing`;
  }
  return `expected "hookSpecificOutput.hookEventName" to be "${event}", found ${formatValue(name)}`;
}

function suggestSpelling({ decision }: Fields, specificFields: Fields | undefined): string {
  const ofCall = specificFields?.['permissionDecision'];
  if (ofCall === 'block') return '; use "deny"';
  if (ofCall === 'approve') return '; use "allow"';
  if (decision !== 'deny' && decision !== 'allow') return '';
  const legacy = decision === 'deny' ? 'block' : 'approve';
  return `; use "decision": "${legacy}", or "permissionDecision": "${decision}" in hookSpecificOutput`;
}

function readSpecific(event: ClaudeEvent, read: Reader): SpecificOutput {
  const isCall = event === 'PreToolUse';
  return {
    permissionDecision: isCall
      ? read.choice('permissionDecision', ['allow', 'deny', 'ask', 'defer'])
      : read.choice('permissionDecision', ['allow', 'deny', 'ask']),
    permissionDecisionReason: read.text('permissionDecisionReason'),
    updatedInput: read.record('updatedInput'),
    additionalContext: read.text('additionalContext'),
    decision: readPermissionDecision(read),
    updatedToolOutput: read.getValue('updatedToolOutput'),
    updatedMcpToolOutput: read.getValue('updatedMCPToolOutput'),
    classifierContext: read.text('classifierContext'),
    sessionTitle: read.text('sessionTitle'),
    suppressOriginalPrompt: read.flag('suppressOriginalPrompt'),
    updatedPrompt: read.text('updatedPrompt'),
    initialUserMessage: read.text('initialUserMessage'),
    watchPaths: read.texts('watchPaths'),
    reloadSkills: read.flag('reloadSkills'),
    retry: read.flag('retry'),
    action: read.choice('action', ['accept', 'decline', 'cancel']),
    content: read.record('content'),
    worktreePath: read.text('worktreePath'),
    displayContent: read.text('displayContent'),
  };
}

function readPermissionDecision(read: Reader): PermissionDecision | undefined {
  const decisionFields = read.record('decision');
  if (decisionFields === undefined) return undefined;
  const inside = createReader(decisionFields, 'hookSpecificOutput.decision.');
  const behavior = inside.choice('behavior', ['allow', 'deny']);
  const decision = {
    updatedInput: inside.record('updatedInput'),
    updatedPermissions: inside.list('updatedPermissions'),
    message: inside.text('message'),
    interrupt: inside.flag('interrupt'),
  };
  const missing =
    'expected "hookSpecificOutput.decision.behavior" to be "allow" or "deny", and it is missing';
  const problem = inside.problem() ?? (behavior === undefined ? missing : null);
  if (problem !== null) read.fail(problem);
  return behavior === undefined ? undefined : { behavior, ...decision };
}

type Reader = ReturnType<typeof createReader>;

/** Creates a reader of typed fields; the first field of a wrong type becomes the problem. */
function createReader(fields: Fields, place: string) {
  let first: string | null = null;
  const fail = (problem: string): undefined => {
    first ??= problem;
    return undefined;
  };
  const rejectType = (name: string, words: string): undefined =>
    fail(`expected "${place}${name}" to be ${words}, found ${formatValue(fields[name])}`);
  const getValue = (name: string): unknown =>
    Object.hasOwn(fields, name) ? fields[name] : undefined;
  return {
    problem: () => first,
    fail,
    getValue,
    text(name: string): string | undefined {
      const value = getValue(name);
      return value === undefined || typeof value === 'string'
        ? value
        : rejectType(name, 'a string');
    },
    flag(name: string): boolean | undefined {
      const value = getValue(name);
      if (value === undefined || typeof value === 'boolean') return value;
      return rejectType(name, 'true or false');
    },
    record(name: string): Fields | undefined {
      const value = getValue(name);
      return value === undefined || isRecord(value) ? value : rejectType(name, 'an object');
    },
    list(name: string): readonly unknown[] | undefined {
      const value = getValue(name);
      return value === undefined || Array.isArray(value) ? value : rejectType(name, 'a list');
    },
    texts(name: string): readonly string[] | undefined {
      const value = getValue(name);
      if (value === undefined) return undefined;
      return isTextList(value) ? value : rejectType(name, 'a list of strings');
    },
    choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
      const value = getValue(name);
      if (value === undefined) return undefined;
      const chosen = choices.find((choice) => choice === value);
      return chosen ?? rejectType(name, formatChoices(choices));
    },
  };
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function formatChoices(choices: readonly string[]): string {
  const quoted = choices.map((choice) => `"${choice}"`);
  return `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}

const SHOWN_CHARACTERS = 60;

function formatValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, SHOWN_CHARACTERS));
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return getTypeName(value) === 'null' ? 'null' : `an ${getTypeName(value)}`;
}
