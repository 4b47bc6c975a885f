import path from 'node:path';
import type { Model } from '../../agent/models/model.ts';
import { findCommand } from '../../plugins/command.ts';
import type { SessionOptions } from '../../agent/session/prepare-session.ts';
import { TOOLS } from '../../agent/tools/index.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import { listToolSpecs } from '../../agent/tools/toolsets.ts';
import type { Permissions } from '../../permissions/permissions.ts';
import type { OnIssue } from '../../plugins/issue.ts';
import { childEnvironment, type Environment, PROVIDER_KEYS } from '../../process/environment.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import type { Worktree } from '../worktrees.ts';
import { claudeDirectory, managedDirectory } from '../dialects/own-directory.ts';
import { withFreeNames } from '../plugins/contributions/free-names.ts';
import type { SessionPlugins } from '../plugins/session-plugins.ts';
import { pluginParts, type PluginsIfAny, pluginsFor } from './session-plugins.ts';
import type { Making, SessionsRequest } from './session-request.ts';
import { openPermissions } from '../open-permissions.ts';
import { benchFacts } from './bench-facts.ts';
import {
  type KeepRequest,
  type KeptSession,
  keepSession,
  type NamedSession,
  nameSession,
} from './keep-session.ts';

/** Brings together what a session is made of. */
export async function sessionOptions(
  request: SessionsRequest,
  making: Making,
): Promise<SessionOptions> {
  const named = nameSession(request.opened, request.clock, making.wish);
  // First, because a plugin may be what serves the model.
  const plugins = await pluginsFor(request, making, named.id);
  try {
    return await joinOptions(request, making, { named, plugins });
  } catch (error) {
    await plugins.close();
    throw error;
  }
}

interface Joining {
  readonly named: NamedSession;
  readonly plugins: PluginsIfAny;
}

async function joinOptions(
  request: SessionsRequest,
  { models: shared, watch, worktrees, wish, prompt }: Making,
  { named, plugins }: Joining,
): Promise<SessionOptions> {
  const { engine, options, clock } = request;
  const providers = plugins.now()?.providers;
  const models = providers === undefined ? shared : shared.forSession(providers);
  const isCommand = findCommand(prompt ?? '', plugins.now()?.commands() ?? []) !== null;
  const model = await (isCommand ? models.ownOrNone() : models.own());
  const judging = permissionsFor(request);
  const facts = factsOf(request, model, judging);
  await watch.start();
  const kept = keepSession({ opened: request.opened, clock, wish, named, facts });
  const { id, taskId, ulid: ownUlid } = kept;
  const worktree = await worktreeFor(request, { wish, worktrees }, kept);
  const opened = worktree === null ? request.opened : inWorktree(request.opened, worktree);
  const permissions =
    worktree === null ? judging : permissionsFor({ ...request, opened, notice: () => undefined });
  const bench = benchFacts(opened, { sessionId: id, stored: kept.stored, permissions });
  // The agent is told to read there what was too long to be shown.
  if (bench.spillDirectory !== null) permissions.addDirectory(bench.spillDirectory);
  return {
    id,
    source: kept.source,
    engine,
    permissions,
    clock,
    platform: opened.surroundings.platform,
    model,
    modelFor: (name) => models.named(name),
    tools: () => toolsFor(request, plugins.now()),
    ...pluginParts(plugins, request),
    specsOf: (tools) =>
      listToolSpecs(options.toolset ?? 'claude', tools).filter(
        ({ name }) => options.offers?.(name) ?? true,
      ),
    limits: limitsOf(request),
    person: options.person ?? null,
    stored: kept.stored,
    earlier: kept.earlier,
    identity: { taskId, ulid: ownUlid },
    projectDirectory: request.opened.startDirectory,
    places: { ...placesOf(opened), skillDirectories: plugins.now()?.skills() ?? [] },
    bench,
    setup: options.setup ?? null,
    addedDirectories: addedDirectories(request),
    ...(options.systemPrompt === undefined ? {} : { systemPrompt: options.systemPrompt }),
    ...(wish.said === undefined ? {} : { said: wish.said }),
    watch: (paths) => watch.add(paths),
    async release() {
      await plugins.close();
      await worktree?.close();
    },
  };
}

/** What is written down of a new one. */
function factsOf(
  { opened: { startDirectory, workspaceRoots } }: SessionsRequest,
  { provider, id }: Model,
  permissions: Permissions,
): KeepRequest['facts'] {
  const permissionMode = permissions.mode();
  return { startDirectory, workspaceRoots, model: { provider, id }, permissionMode };
}

/** Null when the session works where it was started. */
async function worktreeFor(
  { opened, engine, options, emit }: SessionsRequest,
  { wish: { worktree: name }, worktrees }: Pick<Making, 'wish' | 'worktrees'>,
  { id, stored, taskId, ulid: ownUlid }: KeptSession,
): Promise<Worktree | null> {
  if (name === undefined) return null;
  const { createGitWorktrees } = await import('../git-worktrees.ts');
  const root = opened.workspaceRoots[0] ?? opened.startDirectory;
  try {
    return await worktrees.enter({
      name,
      git: createGitWorktrees({ root, env: gitEnvironment(opened) }),
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
  { options: { tools, chooseTools, plugins: wanted }, mcp, notice }: SessionsRequest,
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

export function permissionsFor(request: SessionsRequest): Permissions {
  const { opened, options, notice } = request;
  const { permissions, notices } = openPermissions(opened, {
    ...(options.permissionMode === undefined ? {} : { mode: options.permissionMode }),
    allow: options.allow ?? [],
    deny: options.deny ?? [],
    directories: addedDirectories(request),
  });
  for (const text of notices) notice(text);
  return permissions;
}

function addedDirectories({ opened, options }: SessionsRequest): readonly string[] {
  const { addDirectories = [] } = options;
  return addDirectories.map((each) => path.resolve(opened.startDirectory, each));
}

function limitsOf({ opened, options }: SessionsRequest): SessionOptions['limits'] {
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
