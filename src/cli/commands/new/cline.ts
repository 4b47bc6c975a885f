import path from 'node:path';
import { HooklineError, invariant } from '../../../base/errors.ts';
import {
  FILE_HOOK_NAMES,
  FILE_HOOKS,
  type FileHookName,
  findFileHookName,
} from '../../../dialects/cline-files/names.ts';
import type { Host } from '../../../host/create-host.ts';
import { clinePlaces } from '../../../host/dialects/cline.ts';
import { EVENT_NAMES } from '../../../hooks/events.ts';
import type { EventName } from '../../../hooks/facts.ts';
import { HOOK_EXAMPLES } from '../../../templates/events.ts';
import { HOOK_LANGUAGES } from '../../../templates/template.ts';
import { isThere, writeHookFile } from '../../../templates/write-file.ts';
import { toFileKey } from '../../../trust/collect-unit.ts';
import { computeSha256 } from '../../../trust/file-map.ts';
import { preserveTrust } from '../../config-files/preserve-trust.ts';
import {
  type EventOptions,
  eventUnknown,
  type HookPlan,
  isSameFile,
  missingPrograms,
  type NewHook,
  type NewOptions,
  noHome,
  programCheck,
  refuseExisting,
  resolveLanguage,
  standingOf,
  unknownEvent,
} from './plan.ts';

/** A file that is named after its event. */
export function planClineHook(options: EventOptions): HookPlan {
  const event = resolveEvent(options.event);
  if (options.matcher !== undefined) throw noMatchers();
  return (host) => makeHook(host, event, options);
}

function resolveEvent(name: string): FileHookName {
  const known = findFileHookName(name);
  if (known !== null) return known;
  const canonical = EVENT_NAMES.find((each) => each.toLowerCase() === name.toLowerCase());
  const all = `Cline has hook files for: ${FILE_HOOK_NAMES.join(', ')}.`;
  if (canonical === undefined) throw unknownEvent(name, FILE_HOOK_NAMES, all);
  const files = FILE_HOOK_NAMES.filter((each) => runsAt(each, canonical));
  const hint = files.length === 0 ? all : `What runs then is: ${files.join(', ')}.`;
  throw eventUnknown(`Cline has no hook file named ${canonical}`, hint);
}

function runsAt(name: FileHookName, event: EventName): boolean {
  const events: readonly EventName[] = FILE_HOOKS[name].events;
  return events.includes(event);
}

function noMatchers(): HooklineError {
  return new HooklineError('USAGE_INVALID', {
    message: 'hook files of Cline have no matcher: each runs at every event of its name',
    hint: 'Leave --matcher out, or say --dialect claude.',
  });
}

async function makeHook(host: Host, event: FileHookName, options: NewOptions): Promise<NewHook> {
  const hasProgram = programCheck(host);
  const language = resolveLanguage(options.lang, hasProgram);
  const { write, extension } = HOOK_LANGUAGES[language];
  const { directory, within } = placeFor(host, { extension, isGlobal: options.global === true });
  const file = path.join(directory, `${event}${extension}`);
  const others = hooksIn(directory, { host, event }).filter((each) => !isSameFile(each, file));
  if (options.force !== true) refuseExisting(event, isThere(file) ? [file, ...others] : others);
  const text = write(event);
  const kept = await preserveTrust(
    host,
    () => writeHookFile({ path: file, text, mode: extension === '' ? 0o755 : 0o644, within }),
    {
      alsoTrust: (hook, { root, entry, files }) =>
        isSameFile(hook.path, file) && files[toFileKey(root, entry)] === computeSha256(text),
    },
  );
  const status = host.hooks().find(({ hook }) => isSameFile(hook.path, file));
  invariant(status !== undefined, 'a new hook is found where hooks are looked for');
  const standing = standingOf(status, kept);
  return {
    event,
    example: HOOK_EXAMPLES[event],
    language,
    file: status.hook.path,
    settings: null,
    hook: status.hook,
    isTrusted: standing.isTrusted,
    notes: [
      ...standing.notes,
      ...others.map((other) => `${other} is there, too, and runs at the same event`),
      ...missingPrograms(language, hasProgram),
    ],
  };
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
  if (documents === undefined || places.clineDirectory === null) throw noHome();
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
    .filter(({ hook }) => hook.dialect === 'cline' && hook.eventName === event)
    .map(({ hook }) => hook.path)
    .filter((file) => isSameFile(file, path.join(directory, path.basename(file))));
}
