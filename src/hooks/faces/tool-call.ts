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
  /** Relative paths of a call are relative to this directory. */
  readonly cwd: string;
  /** The workspace root, to which classic paths are relative; null means `cwd`. */
  readonly root: string | null;
  /** Must give the text of a file, or null; what it throws counts as null. */
  readonly readText?: (absolutePath: string) => string | null;
}

/** A call's path as hooks of a vocabulary know it: absolute, relative to the root, or as written. */
export function pathInFace(file: string, vocabulary: Vocabulary, context: FaceContext): string {
  if (vocabulary === 'sdk' || isFixed(file)) return file;
  if (vocabulary === 'claude') return path.resolve(context.cwd, file);
  const root = context.root ?? context.cwd;
  if (root === context.cwd && isPlainlyRelative(file)) return file;
  return relativeWhenInside(root, path.resolve(context.cwd, file));
}

export interface GivenPath {
  readonly file: string;
  readonly from: Vocabulary;
  /** The vocabulary that the call itself is written in. */
  readonly into: Vocabulary;
}

/** A path that a hook gave back, as the call itself would say it: a relative one means `cwd`. */
export function pathInCall({ file, from, into }: GivenPath, context: FaceContext): string {
  if (isFixed(file)) return file;
  const base = from === 'classic' ? (context.root ?? context.cwd) : context.cwd;
  if (into === 'sdk' && base === context.cwd) return file;
  const absolute = path.resolve(base, file);
  return into === 'claude' ? absolute : relativeWhenInside(context.cwd, absolute);
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
