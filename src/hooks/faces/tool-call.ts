import path from 'node:path';
import { findPathInside } from '../../base/paths.ts';

export const VOCABULARIES = ['claude', 'classic', 'sdk'] as const;

export type Vocabulary = (typeof VOCABULARIES)[number];

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

export interface FaceContext {
  /** Paths are relative to this directory, but for those in classic words. */
  readonly cwd: string;
  /** The workspace root, to which paths in classic words are relative; null means `cwd`. */
  readonly root: string | null;
  /** Must give the text of a file, or null; what it throws counts as null. */
  readonly readText?: (absolutePath: string) => string | null;
}

/** From one vocabulary's words into another's. */
export interface Translation {
  readonly from: Vocabulary;
  readonly into: Vocabulary;
}

/** A path in the words of another vocabulary: absolute, relative to the root, or as it was written. */
export function translatePath(
  file: string,
  { from, into }: Translation,
  context: FaceContext,
): string {
  if (isFixed(file)) return file;
  const absolute = (): string => path.resolve(baseOf(from, context), file);
  if (into === 'claude') return absolute();
  const base = baseOf(into, context);
  const isFromThere = base === baseOf(from, context);
  if (into === 'sdk' && (isFromThere || path.isAbsolute(file))) return file;
  return isFromThere && isPlainlyRelative(file) ? file : relativeWhenInside(base, absolute());
}

function baseOf(vocabulary: Vocabulary, { cwd, root }: FaceContext): string {
  return vocabulary === 'classic' ? (root ?? cwd) : cwd;
}

/** The text of a file that a call names, or null when it is not there or cannot be read. */
export function readCalledFile(file: string, context: FaceContext): string | null {
  if (context.readText === undefined || isFixed(file)) return null;
  try {
    return context.readText(path.resolve(context.cwd, file));
  } catch {
    return null;
  }
}

function isFixed(file: string): boolean {
  return file === '' || /^~(?:$|[\\/])/.test(file);
}

/** Whether resolving a path and making it relative again would give back the same. */
function isPlainlyRelative(file: string): boolean {
  return !/(?:^|\/)\.{0,2}(?:\/|$)|[\\:]/.test(file);
}

function relativeWhenInside(directory: string, absolute: string): string {
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
