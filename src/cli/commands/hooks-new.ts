import path from 'node:path';
import { HooklineError, invariant } from '../../base/errors.ts';
import { findRealPath } from '../../base/paths.ts';
import { closestName } from '../../base/spelling.ts';
import {
  FILE_HOOK_NAMES,
  FILE_HOOKS,
  type FileHookName,
  findFileHookName,
} from '../../dialects/cline-files/names.ts';
import type { FoundHook } from '../../dialects/dialect.ts';
import type { Host } from '../../host/create-host.ts';
import { clinePlaces } from '../../host/workspace.ts';
import { EVENT_NAMES } from '../../hooks/events.ts';
import type { EventName } from '../../hooks/facts.ts';
import { createProgramFinder } from '../../process/program-finder.ts';
import { HOOK_EXAMPLES } from '../../templates/events.ts';
import {
  HOOK_LANGUAGE_NAMES,
  HOOK_LANGUAGES,
  type HookLanguageName,
  isHookLanguageName,
} from '../../templates/template.ts';
import { trialCommand } from '../../templates/trial.ts';
import { isThere, writeHookFile } from '../../templates/write-file.ts';
import { keyOf } from '../../trust/collect.ts';
import { sha256Of } from '../../trust/file-map.ts';
import { type Command, type CommandContext, type GlobalFlags, withHost } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { trustNotes, withKeptTrust } from '../state/keep-trust.ts';
import { oneLine } from '../print.ts';

export interface NewOptions {
  readonly event: string;
  readonly dialect?: string;
  readonly lang?: string;
  readonly global?: boolean;
  readonly force?: boolean;
}

/** `hookline hooks new EVENT`: writes an example that works at once. */
export const newHook: Command<NewOptions> = async (context, options) => {
  const event = resolveEvent(options.event);
  checkDialect(options.dialect ?? 'cline');
  return withHost(
    context,
    async (host) => {
      report(context, await makeHook(host, event, options));
      return EXIT.fine;
    },
    // Nothing runs here, and what is there must be seen even where hooks are switched off.
    { flags: { 'hooks.enabled': true } },
  );
};

function resolveEvent(name: string): FileHookName {
  const known = findFileHookName(name);
  if (known !== null) return known;
  const canonical = EVENT_NAMES.find((each) => each.toLowerCase() === name.toLowerCase());
  const meant = closestName(name, FILE_HOOK_NAMES);
  if (canonical === undefined && meant !== null) {
    throw unknownEvent(`there is no event ${JSON.stringify(name)}`, `Did you mean ${meant}?`);
  }
  const all = `Cline has hook files for: ${FILE_HOOK_NAMES.join(', ')}.`;
  if (canonical === undefined) throw unknownEvent(`there is no event ${JSON.stringify(name)}`, all);
  const files = FILE_HOOK_NAMES.filter((each) => runsAt(each, canonical));
  const hint = files.length === 0 ? all : `What runs then is: ${files.join(', ')}.`;
  throw unknownEvent(`Cline has no hook file named ${canonical}`, hint);
}

function runsAt(name: FileHookName, event: EventName): boolean {
  const events: readonly EventName[] = FILE_HOOKS[name].events;
  return events.includes(event);
}

function unknownEvent(message: string, hint: string): HooklineError {
  return new HooklineError('EVENT_UNKNOWN', { message, hint });
}

function checkDialect(dialect: string): void {
  if (dialect === 'cline') return;
  throw new HooklineError('USAGE_INVALID', {
    message: `hooks of the dialect ${JSON.stringify(dialect)} cannot be made; known is: cline`,
    hint: 'Say --dialect cline, or leave it out.',
  });
}

interface MadeHook {
  readonly event: FileHookName;
  readonly language: HookLanguageName;
  readonly hook: FoundHook;
  readonly isTrusted: boolean;
  /** What the person should know, as sentences. */
  readonly notes: readonly string[];
}

async function makeHook(host: Host, event: FileHookName, options: NewOptions): Promise<MadeHook> {
  const hasProgram = programCheck(host);
  const language = resolveLanguage(options.lang, hasProgram);
  const { write, needs, extension } = HOOK_LANGUAGES[language];
  const { directory, within } = placeFor(host, { extension, isGlobal: options.global === true });
  const file = path.join(directory, `${event}${extension}`);
  const others = hooksIn(directory, { host, event }).filter((each) => !isSameFile(each, file));
  if (options.force !== true) refuseExisting(event, isThere(file) ? [file, ...others] : others);
  const text = write(event);
  const kept = await withKeptTrust(
    host,
    () => writeHookFile({ path: file, text, mode: extension === '' ? 0o755 : 0o644, within }),
    (hook, { root, entry, files }) =>
      isSameFile(hook.path, file) && files[keyOf(root, entry)] === sha256Of(text),
  );
  const status = host.hooks().find(({ hook }) => isSameFile(hook.path, file));
  invariant(status !== undefined, 'a new hook is found where hooks are looked for');
  const { hook } = status;
  const isTrusted = hook.place !== 'workspace' || kept.trusted.includes(hook);
  const isExplained = isTrusted || kept.lost.includes(hook);
  return {
    event,
    language,
    hook,
    isTrusted,
    notes: [
      ...trustNotes(kept),
      ...(isExplained ? [] : [`not trusted: ${hook.id}: ${status.why}`]),
      ...others.map((other) => `${other} is there, too, and runs at the same event`),
      ...needs.filter((name) => !hasProgram(name)).map(missingProgram),
    ],
  };
}

type HasProgram = (name: string) => boolean;

function programCheck({ surroundings: { env, platform } }: Host): HasProgram {
  const find = createProgramFinder(env['PATH'], platform);
  return (name) => find(name) !== null;
}

function missingProgram(name: string): string {
  return `${name} is not on the PATH, and the hook needs it`;
}

function resolveLanguage(written: string | undefined, hasProgram: HasProgram): HookLanguageName {
  if (written === undefined) return HOOK_LANGUAGES.bash.needs.every(hasProgram) ? 'bash' : 'node';
  if (isHookLanguageName(written)) return written;
  throw new HooklineError('USAGE_INVALID', {
    message: `--lang should be one of ${HOOK_LANGUAGE_NAMES.join(', ')}, found ${JSON.stringify(written)}`,
    hint: 'Leave it out for bash, or node where bash or jq is missing.',
  });
}

interface Place {
  readonly directory: string;
  /** The workspace that must hold it, or null. */
  readonly within: string | null;
}

/** Extensionless hooks lie where every Cline looks for them, others where those that know them do. */
function placeFor(
  { surroundings, workspaceRoots }: Host,
  { extension, isGlobal }: { extension: string; isGlobal: boolean },
): Place {
  const [root = surroundings.cwd] = workspaceRoots;
  if (!isGlobal) {
    const folder = extension === '' ? '.clinerules' : '.cline';
    return { directory: path.join(root, folder, 'hooks'), within: root };
  }
  const places = clinePlaces({ surroundings, workspaceRoots, hooksDirectory: null });
  const [documents] = places.documents;
  if (documents === undefined || places.clineDirectory === null) {
    throw new HooklineError('USAGE_INVALID', {
      message: '--global needs a home directory, and this machine does not say which is yours',
      hint: 'Set HOME, or leave --global out.',
    });
  }
  const directory =
    extension === ''
      ? path.join(documents, 'Cline', 'Hooks')
      : path.join(places.clineDirectory, 'hooks');
  return { directory, within: null };
}

function hooksIn(
  directory: string,
  { host, event }: { host: Host; event: FileHookName },
): readonly string[] {
  return host
    .hooks()
    .filter(({ hook }) => hook.eventName === event)
    .map(({ hook }) => hook.path)
    .filter((file) => isSameFile(file, path.join(directory, path.basename(file))));
}

/** The same name in the same real directory; a link is not what it leads to. */
function isSameFile(one: string, other: string): boolean {
  return settled(one) === settled(other);
}

function settled(file: string): string {
  const parent = path.dirname(file);
  return path.join(findRealPath(parent) ?? parent, path.basename(file));
}

function refuseExisting(event: FileHookName, files: readonly string[]): void {
  if (files.length === 0) return;
  throw new HooklineError('HOOK_EXISTS', {
    message: `there is a hook for ${event} already: ${files.map(oneLine).join(', ')}`,
    hint: 'Edit it, or write the new one all the same with --force.',
  });
}

function report({ flags, print }: CommandContext, made: MadeHook): void {
  const { event, language: lang, hook, isTrusted: trusted, notes } = made;
  const trial = trialCommand(event, workspaceFlags(flags));
  for (const note of notes) print.note(`note: ${oneLine(note)}`);
  if (flags.json === true) {
    print.json({ path: hook.path, event, lang, id: hook.id, trusted, try: trial });
    return;
  }
  const { runs, does } = HOOK_EXAMPLES[event];
  print.out(
    [
      oneLine(hook.path),
      `It runs ${runs}, and ${does}.`,
      `  try it:         ${trial}`,
      ...(hook.place === 'workspace'
        ? [`  ${trusted ? 'after editing:' : 'to let it run:'}  hookline trust`]
        : []),
    ].join('\n'),
  );
}

/** What points another command at the same workspace. */
function workspaceFlags({ cwd, root = [] }: GlobalFlags): readonly string[] {
  return [
    ...(cwd === undefined ? [] : ['--cwd', cwd]),
    ...root.flatMap((each) => ['--root', each]),
  ];
}
