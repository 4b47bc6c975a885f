import path from 'node:path';
import { type Clock, systemClock } from '../base/clock.ts';
import { createDialects } from '../dialects/index.ts';
import type { Moment } from '../hooks/facts.ts';
import { findWorkspaceAround } from '../trust/record-place.ts';
import {
  type Config,
  loadConfig,
  readSurroundings,
  stateDirectory,
  type Surroundings,
} from './config.ts';
import { fileHookOptions } from './file-hooks.ts';
import { createHookSet, type HookSet } from './hook-set.ts';
import { createMoment } from './moment.ts';
import type { Settings } from './settings.ts';
import { guardRoots, type NamedLock, openTrust, type Trust } from './trust.ts';
import { clinePlaces, resolveRoots } from './workspace.ts';

/** Where to look for hooks, and what lets them run. */
export interface HookSearch {
  readonly cwd?: string;
  /** Workspace roots; the git root of `cwd` when there are none. */
  readonly roots?: readonly string[];
  /** A further directory of Cline hooks. */
  readonly hooksDirectory?: string;
  /** `record`: what the person trusted (default). `all`: run everything that is found. */
  readonly trust?: 'record' | 'all';
  /** A lock that the caller vouches for. */
  readonly lock?: NamedLock;
  /** Settings that stand above every file and variable. */
  readonly flags?: Partial<Settings>;
  /** What the caller knows of its session; the rest is filled in. */
  readonly moment?: Partial<Moment>;
  readonly surroundings?: Surroundings;
  readonly clock?: Clock;
}

export interface OpenedHooks {
  readonly config: Config;
  readonly trust: Trust;
  readonly hookSet: HookSet;
  readonly moment: () => Moment;
  readonly workspaceRoots: readonly string[];
  readonly surroundings: Surroundings;
  /** Where state lives; null without a home directory. */
  readonly stateDirectory: string | null;
}

/** Reads the configuration and the trust record, and finds every hook. */
export function openHooks(search: HookSearch): OpenedHooks {
  const surroundings = search.surroundings ?? readSurroundings();
  const clock = search.clock ?? systemClock;
  const cwd = path.resolve(surroundings.cwd, search.cwd ?? '');
  const workspaceRoots = resolveRoots({ cwd, roots: search.roots ?? [] });
  const state = stateDirectory(surroundings);
  const config = readConfig({ surroundings, workspaceRoots, flags: search.flags ?? {} });
  const trust = openTrust({
    stateDirectory: state,
    workspaceRoots,
    home: surroundings.home,
    lock: search.lock,
    clock,
  });
  const known = { cwd, workspaceRoots, ...search.moment };
  const moment = createMoment({ surroundings, clock, known });
  const opened = { config, trust, moment, workspaceRoots, surroundings, stateDirectory: state };
  return { ...opened, hookSet: findHooks(opened, search) };
}

interface ConfigRequest {
  readonly surroundings: Surroundings;
  readonly workspaceRoots: readonly string[];
  readonly flags: Partial<Settings>;
}

function readConfig({ surroundings, workspaceRoots, flags }: ConfigRequest): Config {
  const state = stateDirectory(surroundings);
  const homeFile = state === null ? null : path.join(state, 'config.json');
  const guarded = guardRoots({ workspaceRoots, home: surroundings.home });
  // A workspace may only tighten, also when something makes it look like the person's own place.
  const misplaced = homeFile === null ? null : findWorkspaceAround(homeFile, guarded);
  const config = loadConfig({
    homeFile: misplaced === null ? homeFile : null,
    workspaceFiles: workspaceRoots
      .map((root) => path.join(root, '.hookline', 'config.json'))
      .filter((file) => file !== homeFile || misplaced !== null),
    env: surroundings.env,
    flags,
  });
  if (misplaced === null) return config;
  return { ...config, problems: [`${homeFile}: ignored: ${misplaced}`, ...config.problems] };
}

function findHooks(opened: Omit<OpenedHooks, 'hookSet'>, search: HookSearch): HookSet {
  const { surroundings, workspaceRoots } = opened;
  const { settings } = opened.config;
  const hooksDirectory = search.hooksDirectory ?? null;
  const dialects = createDialects({
    places: clinePlaces({ surroundings, workspaceRoots, hooksDirectory }),
    ...fileHookOptions(surroundings, settings),
  });
  return createHookSet({
    dialects: settings['hooks.enabled'] ? dialects : [],
    settings,
    surroundings,
    trust: search.trust === 'all' ? null : opened.trust.checker,
    sessionId: () => opened.moment().sessionId,
  });
}
