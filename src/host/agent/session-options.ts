import path from 'node:path';
import type { SessionOptions } from '../../agent/session/prepare-session.ts';
import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import { TOOLS } from '../../agent/tools/index.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import { specsFor } from '../../agent/tools/toolsets.ts';
import type { Clock } from '../../base/clock.ts';
import type { HookEngine } from '../../hooks/engine.ts';
import type { Permissions } from '../../permissions/permissions.ts';
import { childEnvironment, type Environment, PROVIDER_KEYS } from '../../process/environment.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import type { Worktree } from '../worktree/worktree.ts';
import type { Worktrees } from '../worktree/worktrees.ts';
import type { McpServers } from '../mcp/mcp-servers.ts';
import { claudeDirectory, managedDirectory } from '../dialects/own-directory.ts';
import { openPermissions } from '../permissions/open-permissions.ts';
import type { AgentOptions } from './agent-options.ts';
import { benchFacts } from './bench-facts.ts';
import type { Models } from './choose-model.ts';
import { type KeptSession, keepSession, type SessionWish } from './keep-session.ts';
import type { FileWatch } from './watch-files.ts';

export interface SessionsRequest {
  readonly opened: OpenedHooks;
  readonly engine: HookEngine;
  readonly options: AgentOptions;
  readonly clock: Clock;
  readonly emit: (event: RuntimeEvent) => void;
  readonly notice: (text: string) => void;
  readonly mcp: McpServers;
}

export interface Making {
  readonly models: Models;
  readonly watch: FileWatch;
  readonly worktrees: Worktrees;
  readonly wish: SessionWish;
}

/** Brings together what a session is made of. */
export async function sessionOptions(
  request: SessionsRequest,
  { models, watch, worktrees, wish }: Making,
): Promise<SessionOptions> {
  const { engine, options, clock } = request;
  const model = await models.own();
  const judging = permissionsFor(request);
  const facts = {
    startDirectory: request.opened.startDirectory,
    workspaceRoots: request.opened.workspaceRoots,
    model: { provider: model.provider, id: model.id },
    permissionMode: judging.mode(),
  };
  await watch.start();
  const kept = keepSession({ opened: request.opened, clock, wish, facts });
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
    tools: () => toolsFor(options, request.mcp),
    commands: () => request.mcp.commands(),
    specsOf: (tools) =>
      specsFor(options.toolset ?? 'claude', tools).filter(
        ({ name }) => options.offers?.(name) ?? true,
      ),
    limits: limitsOf(request),
    person: options.person ?? null,
    stored: kept.stored,
    earlier: kept.earlier,
    identity: { taskId, ulid: ownUlid },
    projectDirectory: request.opened.startDirectory,
    places: placesOf(opened),
    bench,
    setup: options.setup ?? null,
    addedDirectories: addedDirectories(request),
    ...(options.systemPrompt === undefined ? {} : { systemPrompt: options.systemPrompt }),
    ...(options.shapeRequest === undefined ? {} : { shapeRequest: options.shapeRequest }),
    ...(wish.said === undefined ? {} : { said: wish.said }),
    watch: (paths) => watch.add(paths),
    ...(worktree === null ? {} : { release: () => worktree.close() }),
    onEvent: request.emit,
  };
}

/** Null when the session works where it was started. */
async function worktreeFor(
  { opened, engine, options, emit }: SessionsRequest,
  { wish: { worktree: name }, worktrees }: Pick<Making, 'wish' | 'worktrees'>,
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

function toolsFor({ tools, chooseTools }: AgentOptions, mcp: McpServers): readonly Tool[] {
  const all = [...TOOLS, ...mcp.tools(), ...(tools?.() ?? [])];
  return chooseTools?.(all) ?? all;
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
