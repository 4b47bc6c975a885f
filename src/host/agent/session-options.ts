import path from 'node:path';
import type { Model } from '../../agent/models/model.ts';
import { findCommand } from '../../plugins/command.ts';
import type { SessionOptions } from '../../agent/session/prepare-session.ts';
import type { PromptQueue } from '../../agent/session/prompt-queue.ts';
import type { HookEngine } from '../../hooks/engine.ts';
import { envPrelude } from '../../dialects/claude-config/handlers/env-file.ts';
import type { StoredSession } from '../../sessions/store.ts';
import { hookEnvironment } from '../hook-set.ts';
import { TOOLS } from '../../agent/tools/index.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import { specsFor } from '../../agent/tools/toolsets.ts';
import type { Permissions } from '../../permissions/permissions.ts';
import type { OnIssue } from '../../plugins/issue.ts';
import { childEnvironment, type Environment, PROVIDER_KEYS } from '../../process/environment.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import type { Worktree } from '../worktree/worktree.ts';
import { claudeDirectory, managedDirectory } from '../dialects/own-directory.ts';
import { withFreeNames } from '../plugins/contributions/free-names.ts';
import type { SessionPlugins } from '../plugins/session-plugins.ts';
import { pluginParts, type PluginsIfAny } from './session-plugins.ts';
import type { SessionServices } from './session-services.ts';
import { openPermissions } from '../permissions/open-permissions.ts';
import type { Models } from './choose-model.ts';
import {
  type KeepRequest,
  type KeptSession,
  keepSession,
  type NamedSession,
  type SessionWish,
} from './keep-session.ts';

export interface SessionParts {
  readonly wish: SessionWish;
  readonly named: NamedSession;
  /** What the session is opened for; null when nothing is asked yet. */
  readonly prompt: string | null;
  readonly plugins: PluginsIfAny;
  readonly engine: HookEngine;
  readonly pendingPrompts: PromptQueue;
}

/** Brings together what a session is made of. When that fails, its plugins and its engine are closed. */
export async function sessionOptions(
  services: SessionServices,
  parts: SessionParts,
): Promise<SessionOptions> {
  try {
    return await joinOptions(services, parts);
  } catch (error) {
    await parts.plugins.close();
    await parts.engine.close();
    throw error;
  }
}

async function joinOptions(
  services: SessionServices,
  { wish, named, prompt, plugins, engine, pendingPrompts }: SessionParts,
): Promise<SessionOptions> {
  const { options, clock, watch } = services;
  const isCommand = findCommand(prompt ?? '', plugins.now()?.commands() ?? []) !== null;
  const models = modelsFor(services, plugins);
  const model = await (isCommand ? models.ownOrNone() : models.own());
  const judging = permissionsFor(services);
  const facts = factsOf(services, model, judging);
  await watch.start();
  const kept = keepSession({ opened: services.opened, clock, wish, named, facts });
  const { id, taskId, ulid: ownUlid } = kept;
  const worktree = await worktreeFor(services, wish.worktree, kept);
  const opened = worktree === null ? services.opened : inWorktree(services.opened, worktree);
  const permissions =
    worktree === null ? judging : permissionsFor({ opened, options, notice: () => undefined });
  const bench = benchFacts(opened, { sessionId: id, stored: kept.stored, permissions });
  // The agent is told to read there what was too long to be shown.
  if (bench.spillDirectory !== null) permissions.addDirectory(bench.spillDirectory);
  return {
    id,
    source: kept.source,
    engine,
    pendingPrompts,
    permissions,
    clock,
    platform: opened.surroundings.platform,
    model,
    modelFor: (name) => models.named(name),
    resolveModel: (name, isRunning) => resolveModel(services, plugins, { name, isRunning }),
    tools: () => toolsFor(services, plugins.now()),
    ...pluginParts(plugins, services),
    specsOf: (tools) =>
      specsFor(options.toolset ?? 'claude', tools).filter(
        ({ name }) => options.offers?.(name) ?? true,
      ),
    limits: limitsOf(services),
    person: options.person ?? null,
    stored: kept.stored,
    earlier: kept.earlier,
    identity: { taskId, ulid: ownUlid },
    projectDirectory: services.opened.startDirectory,
    places: { ...placesOf(opened), skillDirectories: plugins.now()?.skills() ?? [] },
    bench,
    setup: options.setup ?? null,
    addedDirectories: addedDirectories(services),
    ...(options.systemPrompt === undefined ? {} : { systemPrompt: options.systemPrompt }),
    ...(wish.said === undefined ? {} : { said: wish.said }),
    watch: (paths) => watch.add(paths),
    async release() {
      await plugins.close();
      await worktree?.close();
      await engine.close();
    },
  };
}

/** A session's plugins may serve models, too. */
function modelsFor({ models }: SessionServices, plugins: PluginsIfAny): Models {
  const providers = plugins.now()?.providers;
  return providers === undefined ? models : models.forSession(providers);
}

interface NamedModel {
  readonly name: string;
  readonly isRunning: boolean;
}

async function resolveModel(
  services: SessionServices,
  plugins: PluginsIfAny,
  { name, isRunning }: NamedModel,
): Promise<Model> {
  const [provider = '', ...rest] = name.split('/');
  // A plugin that is made for its own provider only is not loaded before that is asked for.
  if (rest.length > 0 && !isRunning) await plugins.now()?.bring(provider, rest.join('/'));
  return modelsFor(services, plugins).other(name);
}

/** What is written down of a new one. */
function factsOf(
  { opened: { startDirectory, workspaceRoots } }: SessionServices,
  { provider, id }: Model,
  permissions: Permissions,
): KeepRequest['facts'] {
  const permissionMode = permissions.mode();
  return { startDirectory, workspaceRoots, model: { provider, id }, permissionMode };
}

/** Null when the session works where it was started. */
async function worktreeFor(
  { opened, engine, options, emit, worktrees }: SessionServices,
  name: string | undefined,
  { id, stored, taskId, ulid: ownUlid }: KeptSession,
): Promise<Worktree | null> {
  if (name === undefined) return null;
  const { gitWorktrees } = await import('../worktree/git-worktrees.ts');
  const root = opened.workspaceRoots[0] ?? opened.startDirectory;
  try {
    return await worktrees.enter({
      name,
      git: gitWorktrees({ root, env: gitEnvironment(opened) }),
      engine,
      moment: {
        sessionId: id,
        taskId,
        ulid: ownUlid,
        startDirectory: opened.startDirectory,
        transcriptPath: stored?.transcriptPath ?? null,
      },
      person: options.person ?? null,
      tell: (facts) => emit({ sessionId: id, agentId: id, parentAgentId: null, ...facts }),
    });
  } catch (error) {
    stored?.close();
    throw error;
  }
}

function gitEnvironment({ surroundings }: OpenedHooks): Environment {
  const { env: base, platform } = surroundings;
  return childEnvironment({ base, platform, withhold: PROVIDER_KEYS, pass: [], add: {} });
}

/** Rules and tools are about the copy; hooks stay those that were looked at and trusted. */
function inWorktree(opened: OpenedHooks, { path: root }: Worktree): OpenedHooks {
  return { ...opened, startDirectory: root, workspaceRoots: [root] };
}

function toolsFor(
  { options: { tools, chooseTools, plugins: wanted }, mcp, notice }: SessionServices,
  plugins: SessionPlugins | null,
): readonly Tool[] {
  const others = [...TOOLS, ...mcp.tools(), ...(tools?.() ?? [])];
  const ofPlugins = plugins?.tools() ?? [];
  const tell: OnIssue = ({ plugin, message }) => notice(`plugin ${plugin}: ${message}`);
  const onIssue = wanted?.onIssue ?? tell;
  return (
    chooseTools?.(others, ofPlugins) ?? [...others, ...withFreeNames(ofPlugins, others, onIssue)]
  );
}

export function permissionsFor(
  services: Pick<SessionServices, 'opened' | 'options' | 'notice'>,
): Permissions {
  const { opened, options, notice } = services;
  const { permissions, notices } = openPermissions(opened, {
    ...(options.permissionMode === undefined ? {} : { mode: options.permissionMode }),
    allow: options.allow ?? [],
    deny: options.deny ?? [],
    directories: addedDirectories(services),
  });
  for (const text of notices) notice(text);
  return permissions;
}

function addedDirectories({
  opened,
  options,
}: Pick<SessionServices, 'opened' | 'options'>): readonly string[] {
  const { addDirectories = [] } = options;
  return addDirectories.map((each) => path.resolve(opened.startDirectory, each));
}

function limitsOf({ opened, options }: SessionServices): SessionOptions['limits'] {
  const { settings } = opened.config;
  return {
    maxTurns: options.maxTurns ?? settings['agent.maxTurns'],
    stopCap: settings['agent.stopCap'],
    compactAt: settings['agent.compactAt'],
    ...(options.loops === undefined ? {} : { loops: options.loops }),
  };
}

function placesOf({ surroundings, startDirectory, workspaceRoots, hookSet }: OpenedHooks) {
  const { home, platform } = surroundings;
  return {
    startDirectory,
    roots: workspaceRoots,
    home,
    plugins: hookSet.plugins(),
    managedDirectory: managedDirectory(platform),
    claudeDirectory: claudeDirectory(surroundings),
  };
}

export interface BenchRequest {
  readonly sessionId: string;
  readonly stored: StoredSession | null;
  readonly permissions: Permissions;
}

/** What tools of a session find around them. */
export function benchFacts(
  opened: OpenedHooks,
  { sessionId, stored, permissions }: BenchRequest,
): SessionOptions['bench'] {
  const { surroundings, startDirectory, workspaceRoots, stateDirectory, config } = opened;
  return {
    startDirectory,
    workspaceRoots,
    home: surroundings.home,
    environment: () => childVariables(opened, sessionId),
    shellPrelude: () => envPrelude(stateDirectory, sessionId),
    allowedDirectories: () => permissions.directories(),
    deniedReads: (cwd) => permissions.deniedReads(cwd),
    spillDirectory: stored === null ? null : path.join(stored.directory, 'tool-results'),
    mayFetchPrivate: config.settings['web.allowPrivate'],
  };
}

/** A command of the agent sees what its person's shell sees, and that it runs in a session. */
function childVariables({ surroundings }: OpenedHooks, sessionId: string) {
  return hookEnvironment({ surroundings, withhold: [], pass: [], sessionId });
}
