import path from 'node:path';
import { HooklineError } from '../../../base/errors.ts';
import { findRealPath } from '../../../base/paths.ts';
import { quoteShellWord } from '../../../base/shell-word.ts';
import type { Host } from '../../../host/create-host.ts';
import { clineDirectory } from '../../../host/dialects/own-directory.ts';
import {
  PLUGIN_EXAMPLES,
  PLUGIN_HOOK_NAMES,
  type PluginHookName,
} from '../../../templates/plugin/hooks.ts';
import { pluginFile } from '../../../templates/plugin/template.ts';
import { isThere, writeHookFile } from '../../../templates/write-file.ts';
import { toFileKey } from '../../../trust/collect-unit.ts';
import { computeSha256 } from '../../../trust/file-map.ts';
import { formatTrustNotes, preserveTrust } from '../../config-files/preserve-trust.ts';
import {
  type HookPlan,
  isSameFile,
  type NewHook,
  type NewOptions,
  noHome,
  refuseExisting,
  standingOf,
  unknownEvent,
} from './plan.ts';

/** A plugin in one file, with a tool and a hook. */
export function planPlugin(options: NewOptions): HookPlan {
  const hook = resolveHook(options.event);
  const language = resolveLanguage(options.lang);
  if (options.matcher !== undefined) throw noMatchers();
  return (host) => makePlugin(host, { hook, language, options });
}

const USUAL: PluginHookName = 'beforeTool';

/** By its own name, or by that of its event; the usual one when nothing is said. */
function resolveHook(name: string | undefined): PluginHookName {
  if (name === undefined) return USUAL;
  const isMeant = (hook: PluginHookName): boolean =>
    [hook, PLUGIN_EXAMPLES[hook].event].some((each) => each?.toLowerCase() === name.toLowerCase());
  const hook = PLUGIN_HOOK_NAMES.find(isMeant);
  if (hook !== undefined) return hook;
  const events = PLUGIN_HOOK_NAMES.flatMap((each) => PLUGIN_EXAMPLES[each].event ?? []);
  const all = `Plugins have: ${PLUGIN_HOOK_NAMES.join(', ')}.`;
  throw unknownEvent(name, [...PLUGIN_HOOK_NAMES, ...events], all);
}

type PluginLanguage = 'ts' | 'node';

function resolveLanguage(written = 'ts'): PluginLanguage {
  if (written === 'ts' || written === 'node') return written;
  throw new HooklineError('USAGE_INVALID', {
    message: `--lang should be ts or node for a plugin, found ${JSON.stringify(written)}`,
    hint: 'A plugin is a module of JavaScript or TypeScript; leave --lang out for TypeScript.',
  });
}

function noMatchers(): HooklineError {
  return new HooklineError('USAGE_INVALID', {
    message: 'hooks of plugins have no matcher: each looks at what it is given',
    hint: 'Leave --matcher out, or say --dialect claude.',
  });
}

interface WantedPlugin {
  readonly hook: PluginHookName;
  readonly language: PluginLanguage;
  readonly options: NewOptions;
}

async function makePlugin(host: Host, wanted: WantedPlugin): Promise<NewHook> {
  const { hook, language, options } = wanted;
  const name = options.event === undefined ? 'my-plugin' : `my-${kebab(hook)}`;
  const { directory, within } = placeFor(host, options.global === true);
  const file = path.join(directory, `${name}${language === 'ts' ? '.ts' : '.js'}`);
  if (options.force !== true && isThere(file)) refuseExisting(hook, [file]);
  const text = pluginFile({ name, hook, language });
  const kept = await preserveTrust(
    host,
    () => writeHookFile({ path: file, text, mode: 0o644, within }),
    {
      alsoTrust: (found, { root, entry, files }) =>
        isSameFile(found.path, file) && files[toFileKey(root, entry)] === computeSha256(text),
    },
  );
  const status = host.hooks().find((each) => isSameFile(each.hook.path, file));
  const standing =
    status === undefined
      ? { isTrusted: false, notes: [...formatTrustNotes(kept), whyUnseen(host, file)] }
      : standingOf(status, kept);
  const { runs, does } = PLUGIN_EXAMPLES[hook];
  const shown = status?.hook.path ?? findRealPath(file) ?? file;
  return {
    event: hook,
    example: { runs, does, reads: [], answers: [], trial: { flags: {}, facts: {}, look: null } },
    language,
    file: shown,
    settings: null,
    hook: status?.hook ?? null,
    ...standing,
    tryIt: `hookline plugin demo ${quoteShellWord(shown)}`,
  };
}

function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);
}

function whyUnseen(host: Host, file: string): string {
  const why = host.ignored().find((each) => isSameFile(each.path, file))?.why;
  return `it is not loaded: ${file} ${why ?? 'is not where plugins are looked for'}`;
}

interface Place {
  readonly directory: string;
  /** The workspace that must hold it, or null. */
  readonly within: string | null;
}

function placeFor({ surroundings, workspaceRoots }: Host, isGlobal: boolean): Place {
  if (isGlobal) {
    const own = clineDirectory(surroundings);
    if (own === null) throw noHome();
    return { directory: path.join(own, 'plugins'), within: null };
  }
  const [root = surroundings.cwd] = workspaceRoots;
  return { directory: path.join(root, '.cline', 'plugins'), within: root };
}
