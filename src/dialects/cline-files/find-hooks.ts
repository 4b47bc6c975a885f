import path from 'node:path';
import { isInside } from '../../base/paths.ts';
import type { HandlerInput } from '../../hooks/handler.ts';
import type { LaunchMachine } from '../../process/interpreter.ts';
import { type Codec, commandHandler, failingHandler } from '../command-handler.ts';
import type { Discoverer } from '../dialect.ts';
import type { Discovery, FoundHook, Grant, Ignored } from '../discovery.ts';
import { createShebangFiles, type ShebangFiles } from '../shebang-files.ts';
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
  readonly timeoutMs: number;
}

/** Executables named after an event in known directories. */
export function createClineFilesDiscoverer(options: ClineFilesOptions): Discoverer {
  const codecs = createCodecs(options);
  return {
    discover(): Discovery {
      const directories = hookDirectories(options.places);
      const found = directories.map((directory) => readHookDirectory(directory, options.machine));
      const files = found
        .flatMap((each) => each.files)
        .map((file) => ({
          ...file,
          directory: settlePlace(file.directory, options.places, file.path),
        }));
      const shared = { codecs, shebangFiles: createShebangFiles(), timeoutMs: options.timeoutMs };
      return {
        hooks: files.map((file) => foundHook(withProfile(file, options), shared)),
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
  if ('why' in found) return found;
  const { timeoutMs } = options;
  const shared = { codecs: createCodecs(options), shebangFiles: createShebangFiles(), timeoutMs };
  return foundHook(withProfile(found, options), shared);
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

/** What the hooks of one discovery have in common. */
interface Shared {
  readonly codecs: Codecs;
  readonly shebangFiles: ShebangFiles;
  readonly timeoutMs: number;
}

function foundHook(file: HookFile, { codecs, shebangFiles, timeoutMs }: Shared): FoundHook {
  const { directory, launch } = file;
  const { root } = directory;
  return {
    kind: 'hook',
    unit: {
      id: file.id,
      ownId: file.ownId,
      dialect: 'cline',
      eventName: file.name,
      path: file.path,
      line: null,
      place: directory.place,
      root,
      binds: {
        entry: file.path,
        files: root === null ? [] : shebangFiles(file.shebang, root),
        directories: [directory.path],
      },
      notes: notesOf(file),
      problem: 'missing' in launch ? launch.missing : null,
      details: { profile: file.profile, ...commandLine(file) },
    },
    events: FILE_HOOKS[file.name].events,
    matcher: null,
    timeoutMs,
    onFailure: 'open',
    toHandlers: (grant) => handlersOf(file, codecs(file), grant),
  };
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
    return events.map((event) => failingHandler({ ...target, event }, launch.missing));
  }
  const program = (input: HandlerInput) => ({
    file: launch.file,
    args: launch.args,
    cwd: directoryFor(file, input),
    env: grant.environment,
    timeoutMs: grant.timeoutMs,
    opensStdin: file.opensStdin,
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
