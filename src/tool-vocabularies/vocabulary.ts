import path from 'node:path';
import { findPathInside } from '../base/paths.ts';
import type { ToolForm } from './tool-form.ts';

export const VOCABULARIES = ['claude', 'classic', 'sdk'] as const;

export type Vocabulary = (typeof VOCABULARIES)[number];

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
  | 'NotebookEdit';

/** Everything that differs between vocabularies but for results; one object per vocabulary. */
export interface VocabularyRules {
  /** Null where it knows no such tool: that keeps its Claude form. */
  readonly forms: Readonly<Record<ToolKind, ToolForm | null>>;
  readonly formerNames: Readonly<Partial<Record<ToolKind, readonly string[]>>>;
  /** Names of tools that change files and have no form, because one call may be several changes. */
  readonly changeNames: readonly string[];
  /** Keys of calls that change files, beside those of its forms. */
  readonly changeKeys: readonly string[];
  /** Whether a bare text or list is accepted where an object with a list is documented. */
  readonly takesBareLists: boolean;
  /** Whether a call always says a path: a missing one is the tool's default. */
  readonly alwaysSaysPath: boolean;
  /** The key of the path in a call in these words, given the name of the field; null when it has none. */
  readonly getPathKey: (field: string) => string | null;
  /** The directory that its paths are relative to. */
  readonly getPathBase: (context: ViewContext) => string;
  readonly writePath: (file: ForeignPath) => string;
  readonly readMcpTarget: (call: ToolCall) => McpTarget | null;
  readonly createMcpForm: (target: McpTarget) => ToolForm;
}

/** The rules of the vocabulary that has a form of every tool. */
export interface CompleteRules extends VocabularyRules {
  readonly forms: Readonly<Record<ToolKind, ToolForm>>;
}

/** A path that is to be written in another vocabulary. */
export interface ForeignPath {
  readonly written: string;
  readonly absolute: () => string;
  /** The directory that paths are relative to in the vocabulary that it is written in. */
  readonly base: string;
  /** Whether paths were relative to that directory before, too. */
  readonly isSameBase: boolean;
}

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

/** A call as the model made it; its name decides which vocabulary its input is written in. */
export interface ToolCall {
  readonly name: string;
  readonly input: unknown;
}

export interface ToolView {
  readonly name: string;
  readonly input: unknown;
  /** Which part of the call this is, or null when the call is shown as one. */
  readonly part: number | null;
}

export interface ViewContext {
  /** Paths are relative to this directory, but for those in classic words. */
  readonly cwd: string;
  /** The workspace root, to which paths in classic words are relative; null means `cwd`. */
  readonly root: string | null;
  /** Must give the text of a file, or null; what it throws counts as null. */
  readonly readText?: (absolutePath: string) => string | null;
}

/** The text of a file that a call names, or null when it is not there or cannot be read. */
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

/** A path below the directory as relative to it; any other stays absolute. */
export function toRelativePath(directory: string, absolute: string): string {
  const inside = findPathInside(directory, absolute);
  return inside === null ? absolute : inside.replaceAll(path.sep, '/') || '.';
}

/** What hooks of this process are handed instead of the input, so that they may change it in place. */
export interface InputInHand {
  /** One for all who are asked about the same view. */
  of(view: ToolView, vocabulary: Vocabulary): unknown;
  /** What they have made of theirs by now. Never throws. */
  changes(): readonly InputChange[];
}

export type InputChange =
  | { readonly view: ToolView; readonly vocabulary: Vocabulary; readonly input: unknown }
  | { readonly view: ToolView; readonly unusable: string };
