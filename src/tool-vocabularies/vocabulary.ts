import path from 'node:path';
import { findPathInside } from '../base/paths.ts';
import type { ToolForm } from './tool-form.ts';

/** The vocabularies of our own tools. No name means two tools in them, so a call needs nothing but its name. */
export const VOCABULARIES = ['claude', 'classic', 'sdk'] as const;

export type OwnVocabulary = (typeof VOCABULARIES)[number];

/** The vocabularies of other agents, which share names: a call in one of them says in which. */
export const AGENT_VOCABULARIES = [
  'codex',
  'gemini',
  'copilot',
  'qwen',
  'cursor',
  'droid',
  'opencode',
] as const;

export type AgentVocabulary = (typeof AGENT_VOCABULARIES)[number];

export type Vocabulary = OwnVocabulary | AgentVocabulary;

export function isAgentVocabulary(vocabulary: Vocabulary): vocabulary is AgentVocabulary {
  return AGENT_VOCABULARIES.some((each) => each === vocabulary);
}

/** What each vocabulary is called where the user chooses the one in which the model sees its tools. */
const TOOLSET_NAMES = {
  claude: 'claude',
  classic: 'cline-classic',
  sdk: 'cline-sdk',
} as const satisfies Readonly<Record<OwnVocabulary, string>>;

export type Toolset = (typeof TOOLSET_NAMES)[OwnVocabulary];

export const TOOLSETS: readonly Toolset[] = Object.values(TOOLSET_NAMES);

/** The tools that vocabularies have forms of, under their Claude names. */
export type ToolKind =
  | 'Read'
  | 'Write'
  | 'Edit'
  | 'Bash'
  | 'Grep'
  | 'Glob'
  | 'WebFetch'
  | 'WebSearch'
  | 'Agent'
  | 'TodoWrite'
  | 'AskUserQuestion'
  | 'Skill'
  | 'NotebookEdit'
  | 'ReadMcpResourceTool';

/** Everything that differs between vocabularies except results; one object per vocabulary. */
export interface VocabularyRules {
  /** Null where it knows no such tool: that keeps its Claude form. */
  readonly forms: Readonly<Record<ToolKind, ToolForm | null>>;
  readonly formerNames: Readonly<Partial<Record<ToolKind, readonly string[]>>>;
  /**
   * Forms that its calls have beside `forms`: other names, other keys, or several kinds under one name. Of
   * those with the called name, the first whose essential fields are there counts. Only other agents have them.
   */
  readonly otherForms?: Readonly<Partial<Record<ToolKind, readonly ToolForm[]>>>;
  /** Names of tools whose one call may be several, and how its parts are written. */
  readonly pluralNames: Readonly<Record<string, PluralForm>>;
  /** Names of tools that change files and have no form, because one call may be several changes. */
  readonly changeNames: readonly string[];
  /** Keys of calls that change files, beside those of its forms. */
  readonly changeKeys: readonly string[];
  /** Whether a bare text or list is accepted where an object with a list is documented. */
  readonly takesBareLists: boolean;
  /** Whether a call always has a path: a missing one is the tool's default. */
  readonly alwaysSaysPath: boolean;
  /** Returns the key of the path in a call of this vocabulary, by the name of the field; null without one. */
  readonly getPathKey: (field: string) => string | null;
  /** Returns the directory that its paths are relative to. */
  readonly getPathBase: (context: ViewContext) => string;
  /** Writes a path of another vocabulary in this one. */
  readonly writePath: (file: {
    readonly written: string;
    readonly absolute: () => string;
    /** The directory that paths of this vocabulary are relative to. */
    readonly base: string;
    /** Whether paths of the other vocabulary are relative to the same directory. */
    readonly isSameBase: boolean;
  }) => string;
  readonly readMcpTarget: (call: ToolCall) => McpTarget | null;
  readonly createMcpForm: (target: McpTarget) => ToolForm;
}

/** How one input holds several parts, where that is more than a list. */
export type PluralForm = 'patch' | 'editor' | 'edits' | 'search-replace' | 'deletion' | 'addresses';

export interface McpTarget {
  readonly server: string;
  readonly tool: string;
}

const QUALIFIED_NAME = /^([^_].*?)__(.+)$/;

/** Reads `server__tool`. */
export function parseQualifiedName(name: string): McpTarget | null {
  if (!name.includes('__')) return null;
  const [, server, tool] = QUALIFIED_NAME.exec(name) ?? [];
  return server === undefined || tool === undefined ? null : { server, tool };
}

/** A call as the model made it; its name decides in which of our own vocabularies its input is written. */
export interface ToolCall {
  readonly name: string;
  readonly input: unknown;
  /** The vocabulary of another agent that made the call. */
  readonly vocabulary?: AgentVocabulary;
}

export interface ToolView {
  readonly name: string;
  readonly input: unknown;
  /** Which part of the call this is, or null when the call is shown as one. */
  readonly part: number | null;
}

export interface ViewContext {
  /** Paths are relative to this directory, except in the classic vocabulary. */
  readonly cwd: string;
  /** The workspace root, to which classic paths are relative; null means `cwd`. */
  readonly root: string | null;
  /** Must return the text of a file, or null; what it throws counts as null. */
  readonly readText?: (absolutePath: string) => string | null;
}

/** Reads the text of a file that a call names; null when it cannot be read. */
export function readCalledFile(file: string, context: ViewContext): string | null {
  if (context.readText === undefined || isFixedPath(file)) return null;
  try {
    return context.readText(path.resolve(context.cwd, file));
  } catch {
    return null;
  }
}

/** An empty path, or one below the home directory, is never converted. */
export function isFixedPath(file: string): boolean {
  return file === '' || /^~(?:$|[\\/])/.test(file);
}

/** Whether resolving a path and making it relative again would give back the same. */
export function isNormalizedRelative(file: string): boolean {
  return !/(?:^|\/)\.{0,2}(?:\/|$)|[\\:]/.test(file);
}

/** Converts a path below the directory to a relative one; any other stays absolute. */
export function toRelativePath(directory: string, absolute: string): string {
  const inside = findPathInside(directory, absolute);
  return inside === null ? absolute : inside.replaceAll(path.sep, '/') || '.';
}

/** Copies of a call's input, shared by the hooks of this process, which may change them in place. */
export interface SharedInput {
  /** Returns the same object for all hooks that are asked about the same view. */
  of(view: ToolView, vocabulary: Vocabulary): unknown;
  /** Lists how they have changed it by now. Never throws. */
  changes(): readonly InputChange[];
}

export type InputChange =
  | { readonly view: ToolView; readonly vocabulary: Vocabulary; readonly input: unknown }
  | { readonly view: ToolView; readonly unusable: string };
