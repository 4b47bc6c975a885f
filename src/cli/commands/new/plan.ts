import path from 'node:path';
import { HooklineError } from '../../../base/errors.ts';
import { findRealPath } from '../../../base/paths.ts';
import { findClosestName } from '../../../base/did-you-mean.ts';
import type { FoundHook } from '../../../dialects/dialect.ts';
import type { Host } from '../../../host/create-host.ts';
import type { HookStatus } from '../../../host/hook-set.ts';
import { createProgramFinder } from '../../../process/program-finder.ts';
import type { HookExample } from '../../../templates/events.ts';
import {
  HOOK_LANGUAGE_NAMES,
  HOOK_LANGUAGES,
  type HookLanguageName,
  isHookLanguageName,
} from '../../../templates/template.ts';
import { toOneLine } from '../../output/print.ts';
import { type PreservedTrust, formatTrustNotes } from '../../config-files/preserve-trust.ts';

export interface NewOptions {
  /** May be left out for a plugin. */
  readonly event?: string;
  readonly dialect?: string;
  readonly lang?: string;
  readonly matcher?: string;
  readonly global?: boolean;
  readonly force?: boolean;
}

/** What hooks are made of that have one event each. */
export interface EventOptions extends NewOptions {
  readonly event: string;
}

/** Writes what was asked for; refusals that need no look at the machine have been made before. */
export type HookPlan = (host: Host) => Promise<NewHook>;

export interface NewHook {
  readonly event: string;
  readonly example: HookExample;
  readonly language: HookLanguageName;
  /** The script. */
  readonly file: string;
  /** Where it is configured, for a hook that is more than its file. */
  readonly settings: string | null;
  /** Null when a switch keeps it from being found. */
  readonly hook: FoundHook | null;
  readonly isTrusted: boolean;
  /** What the person should know, as sentences. */
  readonly notes: readonly string[];
  /** The command that shows it at work, where firing an event does not. */
  readonly tryIt?: string;
}

export type HasProgram = (name: string) => boolean;

export function programCheck({ surroundings: { env, platform } }: Host): HasProgram {
  const find = createProgramFinder(env['PATH'], platform);
  return (name) => find(name) !== null;
}

export function missingPrograms(language: HookLanguageName, hasProgram: HasProgram): string[] {
  const needs: readonly string[] = HOOK_LANGUAGES[language].needs;
  return needs
    .filter((name) => !hasProgram(name))
    .map((name) => `${name} is not on the PATH, and the hook needs it`);
}

export function resolveLanguage(
  written: string | undefined,
  hasProgram: HasProgram,
): HookLanguageName {
  if (written === undefined) return HOOK_LANGUAGES.bash.needs.every(hasProgram) ? 'bash' : 'node';
  if (isHookLanguageName(written)) return written;
  throw new HooklineError('USAGE_INVALID', {
    message: `--lang should be one of ${HOOK_LANGUAGE_NAMES.join(', ')}, found ${JSON.stringify(written)}`,
    hint: 'Leave it out for bash, or node where bash or jq is missing.',
  });
}

/** What a name that no event has may have been meant to be. */
export function unknownEvent(name: string, known: readonly string[], all: string): HooklineError {
  const meant = findClosestName(name, known);
  return eventUnknown(
    `there is no event ${JSON.stringify(name)}`,
    meant === null ? all : `Did you mean ${meant}?`,
  );
}

export function eventUnknown(message: string, hint: string): HooklineError {
  return new HooklineError('EVENT_UNKNOWN', { message, hint });
}

export function refuseExisting(event: string, files: readonly string[]): void {
  if (files.length === 0) return;
  throw new HooklineError('HOOK_EXISTS', {
    message: `there is a hook for ${event} already: ${files.map(toOneLine).join(', ')}`,
    hint: 'Edit it, or write the new one all the same with --force.',
  });
}

export function noHome(): HooklineError {
  return new HooklineError('USAGE_INVALID', {
    message: '--global needs a home directory, and this machine does not say which is yours',
    hint: 'Set HOME, or leave --global out.',
  });
}

/** The same name in the same real directory; a link is not what it leads to. */
export function isSameFile(one: string, other: string): boolean {
  return settled(one) === settled(other);
}

function settled(file: string): string {
  const parent = path.dirname(file);
  return path.join(findRealPath(parent) ?? parent, path.basename(file));
}

/** Whether the new hook may run, and what is to be said about that. */
export function standingOf(
  { hook, why }: HookStatus,
  kept: PreservedTrust,
): { readonly isTrusted: boolean; readonly notes: readonly string[] } {
  const isTrusted = hook.place !== 'workspace' || kept.trusted.includes(hook);
  const isExplained = isTrusted || kept.lost.includes(hook);
  const own = isExplained ? [] : [`not trusted: ${hook.id}: ${why}`];
  return { isTrusted, notes: [...formatTrustNotes(kept), ...own] };
}
