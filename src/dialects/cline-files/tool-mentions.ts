import { memoize } from '../../base/memoize.ts';
import { type Profile, PROFILES } from './events.ts';

/** Which tools a hook knows by name, as far as its text says. */
export interface ToolMentions {
  /** Names that its code compares with or lists. */
  readonly named: ReadonlySet<string>;
  /** Whether it may know this name although its code does not clearly name it. */
  readonly mayKnow: (name: string) => boolean;
  /** The same for the name that the model called, for which a pattern that fits it is enough. */
  readonly mayKnowCalled: (name: string) => boolean;
  /** Whether it reads `tool_call` or `tool_result`, which VS Code does not send. */
  readonly readsSdkKeys: boolean;
  /** Whether a part of it cannot be read, such as a compiled program, so that it may know any tool. */
  readonly isPartial: boolean;
}

/** The texts that may hold the names of tools. */
export interface HookTexts {
  readonly own: string;
  /** Texts of files beside it that its own text names. */
  readonly helpers: readonly string[];
  /** Reads the texts of the other files beside it. */
  readonly readOthers: () => readonly string[];
  readonly isPartial: boolean;
}

/** Tools that both generations have under one name. */
const SHARED_NAMES: ReadonlySet<string> = new Set(['apply_patch', 'web_search']);

// Literals, because `hooks list` does not load the vocabularies; a test compares them.
const CLINE_NAMES: Readonly<Record<Profile, ReadonlySet<string>>> = {
  classic: splitNames(`
    execute_command read_file write_to_file replace_in_file list_files list_code_definition_names
    search_files browser_action use_mcp_tool access_mcp_resource ask_followup_question
    attempt_completion plan_mode_respond act_mode_respond web_fetch new_task focus_chain use_skill`),
  sdk: splitNames(`
    run_commands read_files search_codebase fetch_web_content ask_question spawn_agent editor skills`),
};

const CLAUDE_NAMES: ReadonlySet<string> = splitNames(`
  Read Write Edit MultiEdit Bash Grep Glob WebFetch WebSearch Agent Task TodoWrite AskUserQuestion
  Skill NotebookEdit ReadMcpResourceTool`);

function splitNames(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/u));
}

/** Whether both generations of Cline have a tool of this name. */
export function isSharedName(name: string): boolean {
  return SHARED_NAMES.has(name);
}

/** Counts the names that only this generation of Cline has. */
export function countGenerationNames(generation: Profile, names: ReadonlySet<string>): number {
  return [...CLINE_NAMES[generation]].filter((name) => names.has(name)).length;
}

/** Finds out which tools a hook's texts name. */
export function findToolMentions(texts: HookTexts): ToolMentions {
  const codes = [texts.own, ...texts.helpers].map(stripComments);
  const found = codes.map(findNames);
  const named = new Set(found.flatMap(({ certain }) => [...certain]));
  const loose = new Set(found.flatMap(({ loose: words }) => [...words]));
  const inProse = new Set(found.flatMap(({ inProse: words }) => [...words]));
  const getFragments = memoize(() => codes.flatMap(listFragments));
  const getGuess = memoize(() => (hasClineName(named) ? NO_GUESS : createGuess(texts)));
  const isLoose = (name: string): boolean => loose.has(name) || hasPrefixIn(named, name);
  const mayKnow = (name: string): boolean => isLoose(name) || getGuess()(name, getFragments());
  return {
    named,
    mayKnow,
    mayKnowCalled: (name) =>
      mayKnow(name) || inProse.has(name) || getFragments().some((part) => name.includes(part)),
    readsSdkKeys: codes.some((code) => SDK_KEY.test(code)),
    isPartial: texts.isPartial,
  };
}

const SDK_KEY = /[.'"`]tool_(?:call|result)\b/u;

function hasClineName(names: ReadonlySet<string>): boolean {
  return countGenerationNames('classic', names) + countGenerationNames('sdk', names) > 0;
}

/** Whether one of the words is the beginning of an MCP tool's name: `mcp__github`, `github__`. */
function hasPrefixIn(words: ReadonlySet<string>, name: string): boolean {
  if (!name.includes('__')) return false;
  return [...words].some((word) => word.includes('__') && name.startsWith(word));
}

type Guess = (name: string, fragments: readonly string[]) => boolean;

const NO_GUESS: Guess = () => false;

/** Guesses from patterns, comments and other files, which say little beside names in code. */
function createGuess(texts: HookTexts): Guess {
  const otherTexts = texts.readOthers();
  const comments = [texts.own, ...texts.helpers].map(findNames);
  const others = otherTexts.map(findNames);
  const names = new Set([
    ...comments.flatMap(({ certain, inProse }) => [...certain, ...inProse].filter(isDistinctive)),
    ...others.flatMap(({ certain, loose }) => [...certain, ...loose]),
  ]);
  const otherFragments = otherTexts.flatMap(listFragments);
  return (name, fragments) =>
    names.has(name) ||
    hasPrefixIn(names, name) ||
    [...fragments, ...otherFragments].some((part) =>
      name.toLowerCase().includes(part.toLowerCase()),
    );
}

const KNOWN_NAMES: ReadonlySet<string> = new Set([
  ...CLINE_NAMES.classic,
  ...CLINE_NAMES.sdk,
  ...SHARED_NAMES,
  ...CLAUDE_NAMES,
]);

/** Whether a name cannot be mistaken for a word of a sentence. */
function isDistinctive(name: string): boolean {
  return name.includes('_');
}

interface FoundNames {
  /** Compared with, listed, or distinctive. */
  readonly certain: ReadonlySet<string>;
  /** Ordinary words in code, such as `Read`, that may be names. */
  readonly loose: ReadonlySet<string>;
  /** Distinctive names in the middle of a sentence. */
  readonly inProse: ReadonlySet<string>;
}

const NAME = new RegExp(
  `(?<![\\w$@-])(?:${[...KNOWN_NAMES].join('|')}|[A-Za-z0-9][\\w-]*__\\w*)(?![\\w-])`,
  'gu',
);

/** Finds the names of tools in a text, sorted by how sure it is that they are meant as names. */
export function findNames(text: string): FoundNames {
  const certain = new Set<string>();
  const loose = new Set<string>();
  const inProse = new Set<string>();
  for (const match of text.matchAll(NAME)) {
    const [name] = match;
    const { before, after } = cutLine(text, match.index, name.length);
    if (isDistinctive(name)) (isInProse(before, after) ? inProse : certain).add(name);
    else if (isCompared(before, after)) certain.add(name);
    else if (!before.endsWith('.') && !isInProse(before, after)) loose.add(name);
  }
  return { certain, loose, inProse };
}

const LINE_CHARACTERS = 200;

/** Cuts out what stands before and after a name on its line. */
function cutLine(text: string, index: number, length: number) {
  const end = index + length;
  const before = text.slice(Math.max(0, index - LINE_CHARACTERS), index);
  const after = text.slice(end, end + LINE_CHARACTERS);
  return {
    before: before.slice(before.lastIndexOf('\n') + 1),
    after: after.includes('\n') ? after.slice(0, after.indexOf('\n')) : after,
  };
}

const WORD_BEFORE = /(?:^|[\s"'`(])([A-Za-z']{2,}) $/u;
const WORD_AFTER = /^ ([A-Za-z']{2,})(?![\w*/.=(-])/u;
// Words that stand beside a name in code: `for t in a b; do`, `grep -q a`, `a or b`.
const CODE_WORDS = new Set(['in', 'case', 'grep', 'is', 'or', 'and', 'not', 'do', 'then', 'test']);

/** Whether the neighbouring words make a sentence of it. */
function isInProse(before: string, after: string): boolean {
  const words = [WORD_BEFORE.exec(before)?.[1], WORD_AFTER.exec(after)?.[1]];
  return words.some(
    (word) => word !== undefined && !CODE_WORDS.has(word) && !KNOWN_NAMES.has(word),
  );
}

const COMPARED_BEFORE = /(?:[!=]==?|=~|-(?:eq|ne|c?match|c?like|in)\b)\s*[/"'`^(]*$/u;
const COMPARED_AFTER = /^["'`]?\s*[!=]==?/u;
const TESTED_BEFORE = /[^\w"'`]=\s*["'`]?$/u;
const TESTED_AFTER = /^["'`]?\s*\]/u;
const ARM_BEFORE = /(?:^|\bin|;;|\bcase)\s*[("'`]*$/u;
const ARM_AFTER = /^["'`]?\s*(?:\)|:)/u;
const LISTED_BEFORE = /[[{,(]\s*["'`]$/u;
const LISTED_AFTER = /^["'`]\s*[\],}:]/u;
const ALONE_BEFORE = /^\s*(?:-\s*)?["'`]?$/u;
const ALONE_AFTER = /^["'`]?,?\s*$/u;

/** Whether code compares with it or lists it: `== "Bash"`, `Bash|Write)`, `["Bash"]`, a line of its own. */
function isCompared(before: string, after: string): boolean {
  return (
    COMPARED_BEFORE.test(before) ||
    COMPARED_AFTER.test(after) ||
    /(?:^|[^|])\|["'`(]*$/u.test(before) ||
    /^["'`]?\|(?!\|)/u.test(after) ||
    (TESTED_BEFORE.test(before) && TESTED_AFTER.test(after)) ||
    (ARM_BEFORE.test(before) && ARM_AFTER.test(after)) ||
    (LISTED_BEFORE.test(before) && LISTED_AFTER.test(after)) ||
    (ALONE_BEFORE.test(before) && ALONE_AFTER.test(after))
  );
}

// Only at the beginning of a word: tried at every letter of a long one, such as encoded data, it would take minutes.
const FRAGMENT = '(?<![A-Za-z0-9_])([A-Za-z_][A-Za-z0-9_]{2,})';
const PATTERNS = [
  // `*write*`, `write*`
  `\\*${FRAGMENT}`,
  `${FRAGMENT}\\*`,
  // `^write`, `file$`, `write.*`, `.+file`, `write\\w+`, `write_[a-z]`
  `\\^\\(?${FRAGMENT}`,
  `${FRAGMENT}\\$(?!\\w)`,
  `${FRAGMENT}\\.[*+]`,
  `\\.[*+]${FRAGMENT}`,
  `${FRAGMENT}(?:\\\\w|\\[)`,
  // `(write|replace)`
  `(?<!\\|)\\|${FRAGMENT}(?=[|)"'\`/])`,
  `(?:[("'\`/]|^\\s*)${FRAGMENT}\\|(?!\\|)`,
  // `startswith("write")`, `"write" in tool`, `=~ write`, `grep -q write`, `"write_"`, `/write/`
  `(?:with|includes|contains|indexOf|match|search|test|find|prefix|suffix)\\(+\\s*r?["'\`/]\\^?${FRAGMENT}`,
  `["'\`]${FRAGMENT}["'\`]\\s+in\\b`,
  `(?:=~|-c?match|-c?like)\\s*["'^(]*${FRAGMENT}`,
  `\\bgrep\\b[^|;\\n]*?[ "'^]${FRAGMENT}(?=["' \\n)]|$)`,
  `["'\`]((?:[a-z]+_)+|(?:_[a-z]+)+)["'\`]`,
  `/\\^?${FRAGMENT}/[a-z]*\\b`,
  // `"bash"`, compared after lower-casing
  `[!=]==?\\s*["'\`]${FRAGMENT}["'\`]`,
].map((pattern) => new RegExp(pattern, 'gmu'));

/** Lists parts of names that a text searches for. */
function listFragments(code: string): readonly string[] {
  const found = PATTERNS.flatMap((pattern) =>
    [...code.matchAll(pattern)].map((match) => match[1] ?? ''),
  );
  return [...new Set(found)];
}

// The comment that Cline writes into new hooks names tools as examples.
const COMMENTS = [
  /^[ \t]*(?:#|\/\/|\/\*|\*(?:[ \t/]|$)).*$/gmu,
  /[ \t]#[ \t].*$/gmu,
  /(?<=[;{,])[ \t]*\/\/[ \t].*$/gmu,
  /^[ \t]*[rRuU]?("""|''')[\s\S]*?\1/gmu,
  /^[ \t]*:[ \t]*<<-?[ \t]*['"]?(\w+)['"]?[\s\S]*?^\1$/gmu,
  /<#[\s\S]*?#>/gu,
];

export function stripComments(text: string): string {
  return COMMENTS.reduce((code, comment) => code.replace(comment, ''), text);
}

/** Why a hook is asked in the vocabularies of both generations. */
export const EXPLAIN_BOTH = 'its text names tools of both vocabularies';
export const EXPLAIN_PARTIAL = 'not all of its text can be read';

/** Lists the generations of which a hook's text names tools, its profile first. */
export function listNamedProfiles(mentions: ToolMentions, profile: Profile): readonly Profile[] {
  const others = PROFILES.filter(
    (other) =>
      other !== profile && (mentions.isPartial || countGenerationNames(other, mentions.named) > 0),
  );
  return [profile, ...others];
}

// Longer names first, because `read_files` begins with `read_file`.
const PROGRAM_NAME = new RegExp(
  [...KNOWN_NAMES]
    .filter(isDistinctive)
    .toSorted((one, other) => other.length - one.length)
    .join('|'),
  'gu',
);
// Written by the packer UPX; such a program shows none of its strings.
const PACKER_MARK = 'UPX!';

/**
 * Finds out which tools a compiled program names: its strings stand there as they are, but without a
 * border between them.
 */
export function findToolMentionsOfProgram(program: string, isCut: boolean): ToolMentions {
  const named = new Set([...program.matchAll(PROGRAM_NAME)].map(([name]) => name));
  return {
    named,
    mayKnow: () => false,
    mayKnowCalled: () => false,
    readsSdkKeys: /tool_(?:call|result)/u.test(program),
    isPartial: isCut || program.includes(PACKER_MARK),
  };
}
