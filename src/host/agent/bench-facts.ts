import path from 'node:path';
import type { SessionOptions } from '../../agent/session/prepare-session.ts';
import { envPrelude } from '../../dialects/claude-config/handlers/env-file.ts';
import type { Permissions } from '../../permissions/permissions.ts';
import type { StoredSession } from '../../sessions/session-store.ts';
import { hookEnvironment } from '../hook-set.ts';
import type { OpenedHooks } from '../open-hooks.ts';

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
    createReadDenial: (cwd) => permissions.deniedReads(cwd),
    spillDirectory: stored === null ? null : path.join(stored.directory, 'tool-results'),
    canFetchPrivate: config.settings['web.allowPrivate'],
  };
}

/** A command of the agent sees what its person's shell sees, and that it runs in a session. */
function childVariables({ surroundings }: OpenedHooks, sessionId: string) {
  return hookEnvironment({ surroundings, withhold: [], pass: [], sessionId });
}
