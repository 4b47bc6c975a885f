import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { HooklineError, isHooklineError } from '../../../base/errors.ts';
import { findRealPath, isInside } from '../../../base/paths.ts';
import { addEntry } from '../../../dialects/claude-config/config/edit.ts';
import { CLAUDE_EVENT_NAMES, type ClaudeEvent } from '../../../dialects/claude-config/names.ts';
import type { FoundHook } from '../../../dialects/dialect.ts';
import type { Host } from '../../../host/create-host.ts';
import { CLAUDE_EXAMPLES } from '../../../templates/claude/events.ts';
import { CLAUDE_HOOK_LANGUAGES } from '../../../templates/claude/template.ts';
import type { HookLanguageName } from '../../../templates/template.ts';
import { quoteShellWord } from '../../../base/shell-word.ts';
import { isThere, writeHookFile } from '../../../templates/write-file.ts';
import type { Binding } from '../../../trust/bind-unit.ts';
import { toFileKey } from '../../../trust/collect-unit.ts';
import { computeSha256 } from '../../../trust/file-map.ts';
import { parseHookEntry } from '../../config-files/hook-entry.ts';
import { runFileEdit, openHooksFile } from '../../config-files/hooks-file.ts';
import {
  type PreservedTrust,
  formatTrustNotes,
  preserveTrust,
} from '../../config-files/preserve-trust.ts';
import { claudeDirectory } from '../../../host/dialects/own-directory.ts';
import {
  type EventOptions,
  type HasProgram,
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

/** A script, and an entry in a settings file that runs it. */
export function planClaudeHook(options: EventOptions): HookPlan {
  const event = resolveEvent(options.event);
  return (host) => makeHook(host, event, options);
}

function resolveEvent(name: string): ClaudeEvent {
  const known = CLAUDE_EVENT_NAMES.find((each) => each.toLowerCase() === name.toLowerCase());
  if (known !== undefined) return known;
  const all = `Claude’s format has: ${CLAUDE_EVENT_NAMES.join(', ')}.`;
  throw unknownEvent(name, CLAUDE_EVENT_NAMES, all);
}

/** What is to be written. */
interface Wanted {
  readonly event: ClaudeEvent;
  readonly matcher: string | undefined;
  readonly place: ClaudePlace;
  readonly script: string;
  readonly text: string;
  readonly handler: { readonly type: 'command'; readonly command: string };
}

/** A guard with a matcher that cannot be compiled would refuse or miss everything. */
async function checkMatcher(event: ClaudeEvent, { matcher }: NewOptions): Promise<void> {
  if (matcher === undefined) return;
  const [{ compileMatcher }, { screenFor }] = await Promise.all([
    import('../../../hooks/matcher.ts'),
    import('../../../dialects/claude-config/match/pattern-screen.ts'),
  ]);
  try {
    compileMatcher(matcher, screenFor(event));
  } catch (error) {
    if (!isHooklineError(error)) throw error;
    throw new HooklineError('USAGE_INVALID', {
      message: `--matcher should be names such as Edit|Write, or a regular expression: ${error.message}`,
      hint: 'Nothing was written. Quote it for the shell, and put \\ before characters that are meant as they are.',
      cause: error,
    });
  }
}

async function makeHook(host: Host, event: ClaudeEvent, options: NewOptions): Promise<NewHook> {
  await checkMatcher(event, options);
  const hasProgram = programCheck(host);
  const language = resolveLanguage(options.lang, hasProgram);
  const runner = runnerOf(language, hasProgram);
  const place = placeFor(host, options.global === true);
  const { write, extension } = CLAUDE_HOOK_LANGUAGES[language];
  const name = `${event}${extension}`;
  const example = CLAUDE_EXAMPLES[event];
  const wanted: Wanted = {
    event,
    matcher: options.matcher ?? example.matcher,
    place,
    script: path.join(place.directory, 'hooks', name),
    text: write(event),
    handler: {
      type: 'command',
      command: [...runner.words, `${place.written}/hooks/${name}`].join(' '),
      ...(example.timeout === undefined ? {} : { timeout: example.timeout }),
    },
  };
  const { script } = wanted;
  if (options.force !== true && isThere(script)) refuseExisting(event, [script]);
  const kept = await preserveTrust(host, writing(host, wanted), {
    alsoTrust: (hook, binding) => isWanted(hook, wanted) && bindsScript(binding, wanted),
    written: [script],
  });
  const status = host.hooks().find(({ hook }) => isWanted(hook, wanted));
  const standing =
    status === undefined ? unseen(host, place.settings, kept) : standingOf(status, kept);
  return {
    event,
    example,
    language,
    file: script,
    settings: place.settings,
    hook: status?.hook ?? null,
    isTrusted: standing.isTrusted,
    notes: [
      ...standing.notes,
      ...(status?.hook.notes ?? []),
      ...missingPrograms(language, hasProgram),
      ...runner.notes,
    ],
  };
}

/** Looks at the settings first: a script without an entry would be of no use. */
function writing(host: Host, wanted: Wanted): () => void {
  const { event, matcher, place, script, text, handler } = wanted;
  const settings = openHooksFile(place.settings, place.within);
  const isConfigured = host.hooks().some(({ hook }) => isWanted(hook, wanted));
  const changed = isConfigured
    ? null
    : runFileEdit(place.settings, () => addEntry(settings.text, event, { matcher, handler }));
  return () => {
    writeHookFile({ path: script, text, mode: 0o755, within: place.within });
    if (changed !== null) settings.write(changed);
  };
}

/** Whether a hook is exactly the entry that is written. */
function isWanted(hook: FoundHook, { event, matcher, place, handler }: Wanted): boolean {
  if (hook.eventName !== event || !isSameFile(hook.path, place.settings)) return false;
  const entry = parseHookEntry(hook);
  return (
    entry !== null && entry.matcher === matcher && isDeepStrictEqual(entry.handler, { ...handler })
  );
}

function bindsScript({ root, files }: Binding, { script, text }: Wanted): boolean {
  return files[toFileKey(root, findRealPath(script) ?? script)] === computeSha256(text);
}

/** A switch in the settings may keep every hook of a file from being one. */
function unseen(
  host: Host,
  settings: string,
  kept: PreservedTrust,
): { readonly isTrusted: boolean; readonly notes: readonly string[] } {
  const reasons = host.ignored().filter((each) => isSameFile(each.path, settings));
  const why = reasons.map((each) => each.why).join('; ');
  const note = `it does not run: ${settings} ${why === '' ? 'is not read' : why}`;
  return { isTrusted: false, notes: [...formatTrustNotes(kept), note] };
}

interface Runner {
  readonly words: readonly string[];
  readonly notes: readonly string[];
}

/** Scripts start themselves, but TypeScript needs somebody who understands it. */
function runnerOf(language: HookLanguageName, hasProgram: HasProgram): Runner {
  if (language !== 'ts') return { words: [], notes: [] };
  const program = canNodeRunTypes() ? 'node' : ['bun', 'tsx'].find(hasProgram);
  if (program !== undefined) return { words: [program], notes: [] };
  const note = `Node ${process.versions.node} does not run TypeScript: npx fetches tsx when the hook first runs, or use Node 22.18 and say --force`;
  return { words: ['npx', '--yes', 'tsx'], notes: [note] };
}

function canNodeRunTypes(): boolean {
  return 'typescript' in process.features && process.features.typescript !== false;
}

interface ClaudePlace {
  /** `.claude`. */
  readonly directory: string;
  /** The directory as commands name it. */
  readonly written: string;
  readonly settings: string;
  /** The workspace that must hold it, or null. */
  readonly within: string | null;
}

function placeFor(host: Host, isGlobal: boolean): ClaudePlace {
  if (isGlobal) return ownPlace(host);
  // Only there are settings of a project read from.
  const start = host.startDirectory;
  const directory = path.join(start, '.claude');
  return {
    directory,
    written: '"$CLAUDE_PROJECT_DIR"/.claude',
    settings: path.join(directory, 'settings.json'),
    within: host.workspaceRoots.find((root) => isInside(root, start)) ?? start,
  };
}

function ownPlace(host: Host): ClaudePlace {
  const directory = claudeDirectory(host.surroundings);
  if (directory === null) throw noHome();
  const { home } = host.surroundings;
  const isUsual = home !== null && directory === path.join(home, '.claude');
  return {
    directory,
    written: isUsual ? '~/.claude' : quoteShellWord(directory),
    settings: path.join(directory, 'settings.json'),
    within: null,
  };
}
