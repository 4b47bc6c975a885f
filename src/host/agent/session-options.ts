import path from 'node:path';
import { dropUndefined } from '../../base/defined.ts';
import type { Model, ToolSpec } from '../../agent/models/model.ts';
import { findCommand } from '../../plugins/command.ts';
import type { SessionOptions } from '../../agent/session/prepare-session.ts';
import type { PromptQueue } from '../../agent/session/prompt-queue.ts';
import type { HookEngine } from '../../hooks/engine.ts';
import { formatEnvPrelude } from '../../process/env-files.ts';
import type { StoredSession } from '../../sessions/session-store.ts';
import { buildHookEnvironment } from '../hook-set.ts';
import { TOOLS } from '../../agent/tools/index.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import { listToolSpecs } from '../../agent/tools/toolsets.ts';
import type { Permissions } from '../../permissions/permissions.ts';
import type { OnIssue } from '../../plugins/plugin-issue.ts';
import {
  buildChildEnvironment,
  type Environment,
  PROVIDER_KEYS,
} from '../../process/environment.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import { findInstructionPaths } from '../text-exits.ts';
import type { Worktree } from '../worktrees.ts';
import { createConflictFilter } from '../plugins/contributions/tool-name-conflicts.ts';
import type { SessionPlugins } from '../plugins/session-plugins.ts';
import { createPluginParts } from './open-session-plugins.ts';
import type { SessionCallbacks } from './session-callbacks.ts';
import type { AgentOptions } from './agent-options.ts';
import type { SessionServices } from './session-services.ts';
import { openPermissions } from '../open-permissions.ts';
import { openSandbox } from '../sandbox/open-sandbox.ts';
import type { Models } from './choose-model.ts';
import {
  type NewSessionFacts,
  type OpenedStore,
  openStoredSession,
  type SessionIdentity,
  type SessionSelection,
} from './open-stored-session.ts';

interface SessionParts {
  readonly selection: SessionSelection;
  readonly identity: SessionIdentity;
  /** The first prompt; null when there is none yet. */
  readonly prompt: string | null;
  readonly plugins: SessionPlugins;
  readonly engine: HookEngine;
  readonly callbacks: SessionCallbacks;
  readonly pendingPrompts: PromptQueue;
}

/** Builds all parts of a session. When that fails, its plugins and its engine are closed. */
export async function buildSessionOptions(
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
  { selection, identity, prompt, plugins, engine, callbacks, pendingPrompts }: SessionParts,
): Promise<SessionOptions> {
  const { options, clock, watch } = services;
  const isCommand = findCommand(prompt ?? '', plugins.commands()) !== null;
  const models = selectModels(services, plugins);
  const model = await (isCommand ? models.openOwnOrKeyless() : models.openOwn());
  const ownPermissions = openSessionPermissions(services);
  const facts = describeSession(services, model, ownPermissions);
  await watch.start();
  const storage = openStoredSession(services.opened, clock, selection, identity, facts);
  const { id, taskId, ulid: ownUlid } = storage;
  const worktree = await enterWorktree(services, selection.worktree, storage);
  const opened = worktree === null ? services.opened : moveToWorktree(services.opened, worktree);
  const permissions =
    worktree === null
      ? ownPermissions
      : openSessionPermissions({ opened, options, notice: () => undefined });
  const places = { ...services, opened };
  const { toolContextOptions, sandbox } = await openToolPlaces(places, storage, permissions);
  return {
    id,
    source: storage.source,
    engine,
    pendingPrompts,
    permissions,
    clock,
    platform: opened.surroundings.platform,
    model,
    openModel: (name) => models.openNamed(name),
    resolveModel: (name, isRunning) => resolveModel(services, plugins, { name, isRunning }),
    tools: createToolLister(services, plugins),
    ...createPluginParts(plugins, services),
    listSpecs: (tools) => listOffered(tools, permissions, options),
    limits: readLimits(services),
    ...readEffort(services),
    person: options.person ?? null,
    stored: storage.stored,
    earlier: storage.earlier,
    identity: { taskId, ulid: ownUlid },
    projectDirectory: services.opened.startDirectory,
    places: findTextPlaces(opened, plugins, permissions),
    toolContextOptions: {
      ...toolContextOptions,
      followsCline: options.toolset === 'cline-sdk',
    },
    setup: options.setup ?? null,
    addedDirectories: resolveAddedDirectories(services),
    ...selectFurtherOptions(options, selection),
    watch: (paths) => watch.add(paths),
    async release() {
      await callbacks.close();
      sandbox.close();
      await plugins.close();
      await worktree?.close();
      await engine.close();
    },
  };
}

function selectFurtherOptions(
  { systemPrompt, checksWholeTurn }: AgentOptions,
  { said }: SessionSelection,
): Pick<SessionOptions, 'systemPrompt' | 'checksWholeTurn' | 'said'> {
  return dropUndefined({ systemPrompt, checksWholeTurn, said });
}

/** Opens the sandbox of a session, and builds what its tools know. */
async function openToolPlaces(
  { opened, options, notice }: SessionServices,
  { id, stored }: OpenedStore,
  permissions: Permissions,
) {
  const sandbox = await openSandbox({ opened, permissions, mode: options.sandbox, notice });
  const tools = buildToolContextOptions(opened, id, stored, permissions);
  // The agent reads there the tool output that was too long for the conversation.
  if (tools.spillDirectory !== null) permissions.addDirectory(tools.spillDirectory);
  return { toolContextOptions: { ...tools, sandbox }, sandbox };
}

/** A session's plugins may serve models, too. */
function selectModels({ models }: SessionServices, plugins: SessionPlugins): Models {
  const { providers } = plugins;
  return providers === null ? models : models.forSession(providers);
}

async function resolveModel(
  services: SessionServices,
  plugins: SessionPlugins,
  { name, isRunning }: { readonly name: string; readonly isRunning: boolean },
): Promise<Model> {
  const [provider = '', ...rest] = name.split('/');
  // A plugin that is made for its own provider only is not loaded before that is asked for.
  if (rest.length > 0 && !isRunning) await plugins.loadForModel(provider, rest.join('/'));
  return selectModels(services, plugins).openOther(name);
}

function describeSession(
  { opened: { startDirectory, workspaceRoots } }: SessionServices,
  { provider, id }: Model,
  permissions: Permissions,
): NewSessionFacts {
  const permissionMode = permissions.mode();
  return { startDirectory, workspaceRoots, model: { provider, id }, permissionMode };
}

/** Enters the worktree of a session; null when it has none. */
async function enterWorktree(
  { opened, engine, options, emit, worktrees }: SessionServices,
  name: string | undefined,
  { id, stored, taskId, ulid: ownUlid }: OpenedStore,
): Promise<Worktree | null> {
  if (name === undefined) return null;
  const { createGitWorktrees } = await import('../git-worktrees.ts');
  const root = opened.workspaceRoots[0] ?? opened.startDirectory;
  try {
    return await worktrees.enter({
      name,
      createWithGit: createGitWorktrees(root, createGitEnvironment(opened)),
      engine,
      moment: {
        sessionId: id,
        taskId,
        ulid: ownUlid,
        startDirectory: opened.startDirectory,
        transcriptPath: stored?.transcriptPath ?? null,
      },
      person: options.person ?? null,
      emit: (facts) => emit({ sessionId: id, agentId: id, parentAgentId: null, ...facts }),
    });
  } catch (error) {
    stored?.close();
    throw error;
  }
}

function createGitEnvironment({ surroundings }: OpenedHooks): Environment {
  const { env: base, platform } = surroundings;
  return buildChildEnvironment({ base, platform, withhold: PROVIDER_KEYS, pass: [], add: {} });
}

/** Texts for the model are read only where the agent may read. */
function findTextPlaces(
  opened: OpenedHooks,
  plugins: SessionPlugins,
  permissions: Permissions,
): SessionOptions['places'] {
  return {
    ...findInstructionPaths(opened),
    skillDirectories: plugins.skills(),
    isDeniedRead: (file) => permissions.deniedReads(opened.startDirectory)?.(file) ?? false,
  };
}

/** Rules and tools use the worktree; the hooks stay those that were found and trusted. */
function moveToWorktree(opened: OpenedHooks, { path: root }: Worktree): OpenedHooks {
  const untrusted = [...opened.untrusted, root];
  return { ...opened, startDirectory: root, workspaceRoots: [root], untrusted };
}

function createToolLister(
  { options: { tools, chooseTools, plugins: wanted }, mcp, notice }: SessionServices,
  plugins: SessionPlugins,
): () => readonly Tool[] {
  const report: OnIssue = ({ plugin, message }) => notice(`plugin ${plugin}: ${message}`);
  const dropConflicts = createConflictFilter(wanted?.onIssue ?? report);
  return () => {
    const others = [...TOOLS, ...mcp.tools(), ...(tools?.() ?? [])];
    const ofPlugins = plugins.tools();
    return chooseTools?.(others, ofPlugins) ?? [...others, ...dropConflicts(ofPlugins, others)];
  };
}

export function openSessionPermissions(
  services: Pick<SessionServices, 'opened' | 'options' | 'notice'>,
): Permissions {
  const { opened, options, notice } = services;
  const { permissions, notices } = openPermissions(opened, {
    ...dropUndefined({ mode: options.permissionMode }),
    allow: options.allow ?? [],
    deny: options.deny ?? [],
    directories: resolveAddedDirectories(services),
  });
  for (const text of notices) notice(text);
  return permissions;
}

function resolveAddedDirectories({
  opened,
  options,
}: Pick<SessionServices, 'opened' | 'options'>): readonly string[] {
  const { addDirectories = [] } = options;
  return addDirectories.map((each) => path.resolve(opened.startDirectory, each));
}

function readLimits({ opened, options }: SessionServices): SessionOptions['limits'] {
  const { settings } = opened.config;
  return {
    maxTurns: options.maxTurns ?? settings['agent.maxTurns'],
    stopCap: settings['agent.stopCap'],
    compactAt: settings['agent.compactAt'],
    ...dropUndefined({
      loops: options.loops,
      emptyAnswerRetries: options.emptyAnswerRetries,
    }),
  };
}

function listOffered(
  tools: readonly Tool[],
  permissions: Pick<Permissions, 'mode'>,
  options: AgentOptions,
): readonly ToolSpec[] {
  const { toolset = 'claude', offers } = options;
  const specs = listToolSpecs(toolset, selectTools(tools, permissions, options));
  return specs.filter(({ name }) => offers?.(name) ?? true);
}

/** The SDK takes the tools that edit away in plan mode; Claude Code offers them and denies their calls. */
function selectTools(
  tools: readonly Tool[],
  permissions: Pick<Permissions, 'mode'>,
  { toolset }: Pick<AgentOptions, 'toolset'>,
): readonly Tool[] {
  if (toolset !== 'cline-sdk' || permissions.mode() !== 'plan') return tools;
  return tools.filter(({ kind }) => kind !== 'edit');
}

function readEffort({ opened, options }: SessionServices): Pick<SessionOptions, 'effort'> {
  const effort = options.effort ?? opened.config.settings['model.effort'];
  return effort === 'default' ? {} : { effort };
}

/** Builds the options of the tool contexts of a session, which give its tools their environment. */
export function buildToolContextOptions(
  opened: OpenedHooks,
  sessionId: string,
  stored: StoredSession | null,
  permissions: Permissions,
): SessionOptions['toolContextOptions'] {
  const { surroundings, startDirectory, workspaceRoots, stateDirectory, config } = opened;
  const { untrusted } = opened;
  return {
    startDirectory,
    workspaceRoots,
    untrusted,
    home: surroundings.home,
    environment: () => createToolEnvironment(opened, sessionId),
    shellPrelude: () => formatEnvPrelude(stateDirectory, sessionId),
    allowedDirectories: () => permissions.directories(),
    createReadDenial: (cwd) => permissions.deniedReads(cwd),
    spillDirectory: stored === null ? null : path.join(stored.directory, 'tool-results'),
    maxOutputBytes: config.settings['bash.maxOutputBytes'],
    canFetchPrivate: config.settings['web.allowPrivate'],
  };
}

/** A command of the agent has the user's environment with that of settings, and the marker of the session. */
function createToolEnvironment({ surroundings, hookSet }: OpenedHooks, sessionId: string) {
  const variables = hookSet.variables();
  return buildHookEnvironment({ surroundings, variables, withhold: [], pass: [], sessionId });
}
