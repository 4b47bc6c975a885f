import { lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { getErrorCode, getErrorMessage } from '../../base/errors.ts';
import { isDirectory, isNotFoundError } from '../../base/files.ts';
import { memoize } from '../../base/memoize.ts';
import { joinChildPath, findRealPath } from '../../base/paths.ts';
import { findClosestName } from '../../base/did-you-mean.ts';
import {
  hasStdinPath,
  type LaunchMachine,
  type LaunchPlan,
  planLaunch,
} from '../../process/interpreter.ts';
import { findByPathExt } from '../../process/program-finder.ts';
import type { Ignored } from '../discovery.ts';
import type { HookDirectory } from './directories.ts';
import { FILE_HOOK_NAMES, type FileHookName, findFileHookName, type Profile } from './events.ts';
import {
  type FileStart,
  type HookTextReader,
  isBinary,
  listNeighbours,
  readFileStart,
} from './hook-texts.ts';
import {
  countGenerationNames,
  findNames,
  findToolMentions,
  findToolMentionsOfProgram,
  type HookTexts,
  stripComments,
  type ToolMentions,
} from './tool-mentions.ts';

/** A file whose name and place make it a hook. */
export interface HookFile {
  readonly id: string;
  readonly ownId: string;
  readonly name: FileHookName;
  readonly path: string;
  readonly directory: HookDirectory;
  readonly profile: Profile;
  /** Whether the profile was set by hand, which makes it the only vocabulary. */
  readonly hasSetProfile: boolean;
  /** The tools that it knows by name; null for events without a tool. */
  readonly mentions: ToolMentions | null;
  readonly isExecutable: boolean;
  readonly launch: LaunchPlan;
  /** The text after `#!` in its first line; empty without one. */
  readonly shebang: string;
  /** Whether it opens `/dev/stdin` by its path. */
  readonly opensStdin: boolean;
  /** The beginning of its text. */
  readonly text: string;
}

/** Reads one hook directory. Every entry becomes a hook or is ignored with a reason. */
export function readHookDirectory(
  directory: HookDirectory,
  machine: LaunchMachine,
  texts: HookTextReader,
): { readonly files: readonly HookFile[]; readonly ignored: readonly Ignored[] } {
  const listing = listNames(directory.path);
  if ('why' in listing) return { files: [], ignored: [listing] };
  const files: HookFile[] = [];
  const ignored: Ignored[] = [];
  const getNeighbours = memoize(() => listHelpers(directory.path, machine));
  const readTexts = (own: string): HookTexts => texts.read(own, getNeighbours());
  for (const entry of listing.toSorted()) {
    const hookFile = readEntry(entry, { directory, siblings: listing, machine, readTexts });
    if ('why' in hookFile) ignored.push(hookFile);
    else files.push(hookFile);
  }
  return { files, ignored };
}

/** Lists the files of a hook directory that are no hooks themselves. */
function listHelpers(directory: string, { platform }: LaunchMachine): readonly string[] {
  return listNeighbours(directory).filter(
    (file) => path.dirname(file) !== directory || 'why' in parseName(path.basename(file), platform),
  );
}

/** Whether a directory holds a file that would be a hook in a directory of hooks. */
export function hasHooks(directory: string, { platform }: LaunchMachine): boolean {
  const names = isDirectory(directory) ? listNames(directory) : [];
  if ('why' in names) return true;
  return names.some((name) => {
    const parsedName = parseName(name, platform);
    return 'name' in parsedName || parsedName.mayHideHook === true;
  });
}

/** Lists the names in a directory; empty when it does not exist, a reason when it cannot be read. */
function listNames(directory: string): readonly string[] | Ignored {
  try {
    if (statSync(directory, { throwIfNoEntry: false }) === undefined) return [];
    return readdirSync(directory);
  } catch (error) {
    if (!isNotFoundError(error)) {
      return createHidden(directory, `cannot be read: ${getErrorMessage(error)}`);
    }
    if (findRealPath(directory) === null) return [];
    return { path: directory, why: 'is not a directory, so it holds no hooks' };
  }
}

function createHidden(place: string, why: string): Ignored {
  return { path: place, why, mayHideHook: true };
}

interface Neighbourhood {
  readonly directory: HookDirectory;
  readonly siblings: readonly string[];
  readonly machine: LaunchMachine;
  /** Reads the files that a hook with this text may load. */
  readonly readTexts: (own: string) => HookTexts;
}

function readEntry(entry: string, around: Neighbourhood): HookFile | Ignored {
  const file = joinChildPath(around.directory.path, entry);
  const parsedName = parseName(entry, around.machine.platform);
  if ('why' in parsedName) return { path: file, ...parsedName };
  const rival = findWindowsRival(entry, around);
  if (rival !== null) return { path: file, why: `${rival} comes first in PATHEXT` };
  const hookFile = readHookFile(file, parsedName.name, around);
  if ('why' in hookFile) return hookFile;
  if (isForeignTwin(entry, hookFile.launch, around)) {
    const why = 'a PowerShell hook, but PowerShell (pwsh) is not on the PATH';
    return hasTwin(entry, around) ? { path: file, why } : createHidden(file, why);
  }
  const mark = formatRepeatMark(entry, around);
  return { ...hookFile, id: `${hookFile.id}${mark}`, ownId: `${hookFile.ownId}${mark}` };
}

/**
 * Distinguishes `PreToolUse.sh` from `pretooluse.SH` in one directory; the exact spelling has the
 * plain id.
 */
function formatRepeatMark(entry: string, { siblings, machine }: Neighbourhood): string {
  const plain = parsePlainName(entry, machine.platform);
  const rivals = siblings
    .filter((other) => parsePlainName(other, machine.platform) === plain)
    .toSorted(
      (one, other) => Number(other === plain) - Number(one === plain) || compare(one, other),
    );
  const position = rivals.indexOf(entry);
  return position <= 0 ? '' : `~${position + 1}`;
}

function parsePlainName(entry: string, platform: NodeJS.Platform): string | null {
  const parsedName = parseName(entry, platform);
  return 'why' in parsedName ? null : formatFileName(parsedName.name, entry);
}

function formatFileName(name: FileHookName, file: string): string {
  return `${name}${path.extname(file).trim().toLowerCase()}`;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : 1;
}

/** Reads one file as a hook of this name, whatever its own name and place. */
export function readHookFile(
  file: string,
  name: FileHookName,
  { directory, machine, readTexts }: Omit<Neighbourhood, 'siblings'>,
): HookFile | Ignored {
  const stats = readStats(file);
  if ('why' in stats) return stats;
  const start = readFileStart(file);
  const text = typeof start === 'string' ? start : start.bytes;
  const fileName = formatFileName(name, file);
  return {
    id: `cline:${directory.label}${directory.suffix}:${fileName}`,
    ownId: `cline:${directory.label}:${fileName}`,
    name,
    path: file,
    directory,
    hasSetProfile: false,
    ...examineText(name, start, readTexts),
    isExecutable: isExecutable(stats),
    launch: planHookLaunch(file, stats, text, machine),
    shebang: typeof text === 'string' ? '' : readShebangLine(text),
    opensStdin: typeof text !== 'string' && hasStdinPath(text.toString('latin1')),
    text: typeof text === 'string' ? '' : text.toString('latin1'),
  };
}

const EXTENSIONS = new Set([
  '',
  '.sh',
  '.bash',
  '.zsh',
  '.js',
  '.mjs',
  '.cjs',
  '.ts',
  '.mts',
  '.cts',
  '.py',
  '.ps1',
]);
const WINDOWS_EXTENSIONS = new Set(['.bat', '.cmd', '.exe', '.com']);

function parseName(
  entry: string,
  platform: NodeJS.Platform,
): { readonly name: FileHookName } | Omit<Ignored, 'path'> {
  const extension = path.extname(entry);
  const base = entry.slice(0, entry.length - extension.length);
  const name = FILE_HOOK_NAMES.find(
    (hookName) => hookName.toLowerCase() === base.trim().toLowerCase(),
  );
  if (name === undefined) return describeUnknownName(base, extension);
  const lower = extension.trim().toLowerCase();
  const isKnown = EXTENSIONS.has(lower) || (platform === 'win32' && WINDOWS_EXTENSIONS.has(lower));
  if (isKnown) return { name };
  const why = explainUnknownExtension(lower);
  return OTHER_LANGUAGES.has(lower) ? { why, mayHideHook: true } : { why };
}

/** A script in one of these was meant to run; `PreToolUse.md` and `PreToolUse.bak` were not. */
const OTHER_LANGUAGES = new Set([
  '.rb',
  '.pl',
  '.php',
  '.lua',
  '.fish',
  '.ksh',
  '.jsx',
  '.tsx',
  '.py3',
  '.exec',
]);

function describeUnknownName(base: string, extension: string): Omit<Ignored, 'path'> {
  const suggestion = findClosestName(base.trim(), FILE_HOOK_NAMES) ?? findFileHookName(base);
  const why = 'its name is not the name of a hook';
  if (suggestion === null) return { why };
  const meant = `${why}; did you mean ${suggestion}?`;
  const canRun = EXTENSIONS.has(extension.trim().toLowerCase());
  return canRun ? { why: meant, mayHideHook: true } : { why: meant };
}

function explainUnknownExtension(extension: string): string {
  if (WINDOWS_EXTENSIONS.has(extension)) return `${extension} files run only on Windows`;
  return `its extension ${extension} is not supported`;
}

function readStats(file: string): Stats | Ignored {
  try {
    const stats = statSync(file);
    if (stats.isDirectory()) return { path: file, why: 'is a directory' };
    return stats.isFile() ? stats : { path: file, why: 'is not a regular file' };
  } catch (error) {
    if (getErrorCode(error) !== 'ENOENT') {
      return createHidden(file, `cannot be read: ${getErrorMessage(error)}`);
    }
    const isThere = lstatSync(file, { throwIfNoEntry: false }) !== undefined;
    return createHidden(file, isThere ? 'is a broken link' : 'does not exist');
  }
}

const LINE_BYTES = 512;

function readShebangLine(head: Buffer): string {
  return /^\uFEFF?#!([^\n]*)/.exec(head.toString('utf8', 0, LINE_BYTES))?.[1] ?? '';
}

/** `text` is the head of the file, or why it cannot be read. */
function planHookLaunch(
  file: string,
  stats: Stats,
  text: Buffer | string,
  machine: LaunchMachine,
): LaunchPlan {
  if (typeof text === 'string') return { missing: `it cannot be read: ${text}` };
  return planLaunch(
    { path: file, head: text.subarray(0, LINE_BYTES), isExecutable: isExecutable(stats) },
    machine,
  );
}

function isExecutable(stats: Stats): boolean {
  return (stats.mode & 0o111) !== 0;
}

/** Windows starts one program for a name without extension, chosen by PATHEXT. */
function findWindowsRival(
  entry: string,
  { directory, siblings, machine }: Neighbourhood,
): string | null {
  const { name: baseName, ext } = path.parse(entry);
  if (machine.platform !== 'win32' || !WINDOWS_EXTENSIONS.has(ext.toLowerCase())) return null;
  const { pathExt } = machine;
  const first = findByPathExt(directory.path, baseName, siblings, pathExt);
  const winner = first === null ? entry : path.win32.basename(first);
  return winner === entry ? null : winner;
}

/** A `.ps1` beside the Unix hook is for Windows, so it is skipped where there is no PowerShell. */
function isForeignTwin(
  entry: string,
  launch: LaunchPlan,
  { siblings, machine }: Neighbourhood,
): boolean {
  if (machine.platform === 'win32' || path.extname(entry).toLowerCase() !== '.ps1') return false;
  const isLone = !hasTwin(entry, { siblings });
  return 'missing' in launch && (!isLone || machine.findProgram('pwsh') === null);
}

function hasTwin(entry: string, { siblings }: Pick<Neighbourhood, 'siblings'>): boolean {
  const base = path.parse(entry).name.toLowerCase();
  return siblings.some((other) => other !== entry && path.parse(other).name.toLowerCase() === base);
}

const TOOL_HOOKS: ReadonlySet<FileHookName> = new Set(['PreToolUse', 'PostToolUse']);

/** Finds out for which generation of Cline a hook was written, and which tools it names. */
function examineText(
  name: FileHookName,
  start: FileStart,
  readTexts: (own: string) => HookTexts,
): Pick<HookFile, 'profile' | 'mentions'> {
  if (typeof start === 'string') return { profile: 'classic', mentions: null };
  const { bytes, isCut } = start;
  if (isBinary(bytes)) return examineProgram(name, start);
  const own = bytes.toString('utf8');
  if (!TOOL_HOOKS.has(name)) return { profile: detectProfile(name, own), mentions: null };
  const texts = readTexts(own);
  const mentions = findToolMentions({ ...texts, isPartial: texts.isPartial || isCut });
  return { profile: detectProfile(name, own, texts.helpers), mentions };
}

function examineProgram(
  name: FileHookName,
  { bytes, isCut }: Exclude<FileStart, string>,
): Pick<HookFile, 'profile' | 'mentions'> {
  const mentions = findToolMentionsOfProgram(bytes.toString('latin1'), isCut);
  const isSdk =
    SDK_MOMENTS.has(name) ||
    countGenerationNames('sdk', mentions.named) > countGenerationNames('classic', mentions.named);
  return {
    profile: isSdk ? 'sdk' : 'classic',
    mentions: TOOL_HOOKS.has(name) ? mentions : null,
  };
}

// VS Code never had these events, so their hooks are written for the SDK.
const SDK_MOMENTS: ReadonlySet<FileHookName> = new Set(['TaskError', 'SessionShutdown']);

/** Guesses from its name and texts for which generation of Cline a hook was written. */
export function detectProfile(
  name: FileHookName,
  text: string,
  helpers: readonly string[] = [],
): Profile {
  if (SDK_MOMENTS.has(name)) return 'sdk';
  const texts = [stripComments(text), stripComments(helpers.join('\n')), text];
  const profiles = texts.filter((each) => ANY_SIGN.test(each)).map(detectProfileIn);
  return profiles.find((profile) => profile !== null) ?? 'classic';
}

// A quick test: every text searched below contains one of these, and most small hooks contain none.
const ANY_SIGN = /_|editor|skills|rootSessionId/;

const SDK_WORDS =
  /\b(?:tool_call|tool_result|apply_patch|agent_(?:start|resume|end|error|abort)|prompt_submit|session_shutdown|rootSessionId|parent_agent_id)\b/u;

/**
 * Counts the tool names of each generation in the text; more names win. A hook that reads SDK-only
 * keys first is an SDK hook. Null when undecided.
 */
function detectProfileIn(text: string): Profile | null {
  if (hasSdkKeysFirst(text)) return 'sdk';
  const { certain, inProse } = findNames(text);
  const names = new Set([...certain, ...inProse]);
  const classic = countGenerationNames('classic', names);
  const sdk = countGenerationNames('sdk', names);
  if (classic !== sdk) return classic > sdk ? 'classic' : 'sdk';
  if (SDK_WORDS.test(text)) return 'sdk';
  return classic > 0 ? 'classic' : null;
}

function hasSdkKeysFirst(text: string): boolean {
  const sdkAt = text.search(/[.'"]tool_(?:call|result)\b/u);
  const sharedAt = text.search(/\b(?:pre|post)ToolUse\b/u);
  return sdkAt !== -1 && (sharedAt === -1 || sdkAt < sharedAt);
}
