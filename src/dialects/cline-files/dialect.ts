import { closeSync, openSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { isInside } from '../../base/paths.ts';
import type { HandlerInput } from '../../hooks/handler.ts';
import type { LaunchMachine } from '../../process/interpreter.ts';
import { type Codec, commandHandler } from '../command-handler.ts';
import type { Dialect, Discovery, FoundHook, Grant, Ignored } from '../dialect.ts';
import { createFileHookCodec } from './codec.ts';
import type { DecideOptions } from './decide.ts';
import { hookDirectories, type HookPlaces, settlePlace } from './directories.ts';
import { type HookFile, readHookDirectory, readHookFile } from './discover.ts';
import { always, FILE_HOOKS, type FileHookName, type Profile } from './names.ts';

export interface ClineFilesOptions extends DecideOptions {
  readonly places: HookPlaces;
  readonly machine: LaunchMachine;
  /** Profiles set by hand, by hook id. */
  readonly profiles: Readonly<Record<string, Profile>>;
}

/** Executables named after an event in known directories. */
export function clineFilesDialect(options: ClineFilesOptions): Dialect {
  const codecs = createCodecs(options);
  return {
    name: 'cline',
    discover(): Discovery {
      const directories = hookDirectories(options.places);
      const found = directories.map((directory) => readHookDirectory(directory, options.machine));
      const files = found
        .flatMap((each) => each.files)
        .map((file) => ({
          ...file,
          directory: settlePlace(file.directory, options.places, file.path),
        }));
      return {
        hooks: files.map((file) => foundHook(withProfile(file, options), codecs)),
        ignored: found.flatMap((each) => each.ignored),
        watched: directories.map((directory) => directory.path),
      };
    },
  };
}

/** A hook that the caller names by its path; a reason when it cannot be one. */
export function namedFileHook(
  file: string,
  name: FileHookName,
  options: Omit<ClineFilesOptions, 'places'>,
): FoundHook | Ignored {
  const directory = { path: path.dirname(file), place: 'given', label: 'given' } as const;
  const found = readHookFile(file, name, {
    directory: { ...directory, suffix: '', root: null },
    machine: options.machine,
  });
  return 'why' in found ? found : foundHook(withProfile(found, options), createCodecs(options));
}

type Codecs = (file: HookFile) => Codec;

/** Hooks that get the same payload share a codec, so that it is serialised once for all of them. */
function createCodecs(options: DecideOptions): Codecs {
  const made = new Map<string, Codec>();
  return ({ name, profile }) => {
    const key = `${name} ${profile}`;
    const codec = made.get(key) ?? createFileHookCodec({ ...options, name, profile });
    made.set(key, codec);
    return codec;
  };
}

function withProfile(file: HookFile, { profiles }: Pick<ClineFilesOptions, 'profiles'>): HookFile {
  return { ...file, profile: profiles[file.id] ?? profiles[file.ownId] ?? file.profile };
}

function foundHook(file: HookFile, codecs: Codecs): FoundHook {
  const { directory, launch } = file;
  return {
    id: file.id,
    ownId: file.ownId,
    dialect: 'cline',
    eventName: file.name,
    events: FILE_HOOKS[file.name].events,
    matcher: null,
    path: file.path,
    place: directory.place,
    root: directory.root,
    binds: { entry: file.path, files: shebangFiles(file), directories: [directory.path] },
    notes: notesOf(file),
    problem: 'missing' in launch ? launch.missing : null,
    details: { profile: file.profile, ...commandLine(file) },
    toHandlers: (grant) => handlersOf(file, codecs(file), grant),
  };
}

/** What the `#!` line names in the workspace: it runs together with the hook, or instead of it. */
function shebangFiles({ path: file, directory: { root } }: HookFile): readonly string[] {
  if (root === null) return [];
  const line = /^\uFEFF?#!([^\n]*)/.exec(readFirstLine(file))?.[1] ?? '';
  const named = shebangWords(line).flatMap((word) => filesNamed(word, root));
  return [...new Set(named)].filter((each) => each !== root && isInside(root, each));
}

const LINE_BYTES = 512;

function readFirstLine(file: string): string {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const head = Buffer.alloc(LINE_BYTES);
      return head.subarray(0, readSync(descriptor, head, 0, LINE_BYTES, 0)).toString('utf8');
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // A hook that cannot be read cannot be bound either, and the trust check says why.
    return '';
  }
}

/** Every part that may be a path: `--import=./a.mjs`, `-r./a.js` and `A=./b:./c` hold some, too. */
function shebangWords(line: string): readonly string[] {
  // `env -S` has escapes for white space and replaces variables.
  const plain = line.replaceAll(/\\[_tnrfv]/g, ' ').replaceAll(/\$\{[^}]*\}|["'\\]/g, '');
  const words = plain.split(/\s+/).flatMap((word) => {
    return [word, ...word.split(/[=:,()]/), word.replace(/^-\w/, '')];
  });
  return [...new Set(words)].filter((word) => word !== '');
}

const LOADED_ENDINGS = ['', '.js', '.cjs', '.json', '.node', '.py', '/index.js', '/__main__.py'];

/** A path is bound although nothing may be there yet; a plain word only if there is such a file. */
function filesNamed(word: string, root: string): readonly string[] {
  const isPath = /^[^-=][^=]*(?:\/[^=]*|\.[a-z]\w*)$/i.test(word) || word.startsWith('/');
  const spellings = new Set([word, word.replace(/^\/+/, ''), word.replaceAll('.', '/')]);
  const below = path.join(root, path.sep);
  const guesses = [...spellings]
    .flatMap((name) => LOADED_ENDINGS.map((ending) => path.resolve(root, `${name}${ending}`)))
    .filter((file) => file.startsWith(below) && isFile(file));
  return [...(isPath ? [path.resolve(root, word)] : []), ...guesses];
}

function isFile(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}

function notesOf({ isExecutable, path: file, launch }: HookFile): string[] {
  const isClassicName = path.extname(file) === '';
  return [
    ...(isExecutable || !isClassicName ? [] : ['not executable: off in VS Code']),
    ...('missing' in launch || launch.note === null ? [] : [launch.note]),
  ];
}

function commandLine({ launch }: HookFile): Record<string, string> {
  return 'missing' in launch ? {} : { command: [launch.file, ...launch.args].join(' ') };
}

function handlersOf(
  file: HookFile,
  codec: Codec,
  grant: Grant,
): ReturnType<FoundHook['toHandlers']> {
  const { misfit, events } = FILE_HOOKS[file.name];
  const target = {
    id: file.id,
    dialect: 'cline',
    source: sourceOf(file),
    vocabulary: file.profile,
    onFailure: grant.onFailure,
    ...(misfit === always ? {} : { fits: misfit }),
    withheld: grant.withheld,
  };
  const { launch } = file;
  if ('missing' in launch) {
    const failure = { kind: 'spawn', message: launch.missing } as const;
    return events.map((event) => ({ ...target, event, run: () => ({ failure }) }));
  }
  const program = (input: HandlerInput) => ({
    file: launch.file,
    args: launch.args,
    cwd: directoryFor(file, input),
    env: grant.environment,
    timeoutMs: grant.timeoutMs,
  });
  return events.map((event) => commandHandler({ ...target, event, program, codec }));
}

/** Where a person would look for it: below its root, or wherever it lies. */
function sourceOf({ path: file, directory }: HookFile): string {
  const { root } = directory;
  return root === null || !isInside(root, file) ? file : path.relative(root, file);
}

/** A workspace's hook runs in its own root, a personal one in the primary root. */
function directoryFor({ directory }: HookFile, { event }: HandlerInput): string {
  return directory.root ?? event.workspaceRoots[0] ?? event.cwd;
}
