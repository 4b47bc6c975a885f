import path from 'node:path';
import { findPathInside, findRealPath, formatPath, isInside } from '../base/paths.ts';
import type { InstructionPaths, TextExit } from '../agent/instructions/source-files.ts';
import { findTextExits } from '../agent/instructions/text-exits.ts';
import { claude } from '../dialects/index.ts';
import type { DiscoveredUnit, FoundTextExit } from '../dialects/discovery.ts';
import type { ListedUnit } from './hook-set.ts';
import type { OpenedHooks } from './open-hooks.ts';

/** Finds where the texts for the agent are, and which of their includes may lead out of the workspace. */
export function findInstructionPaths(opened: OpenedHooks): InstructionPaths {
  const { surroundings, startDirectory, workspaceRoots, hookSet } = opened;
  // The agent's instructions, skills and commands have Claude's format.
  const { user, managed } = claude.instructionDirectories(surroundings);
  return {
    startDirectory,
    roots: workspaceRoots,
    home: surroundings.home,
    plugins: hookSet.pluginFolders(),
    managedDirectory: managed,
    claudeDirectory: user,
    isTrustedExit: (exit) => hookSet.status(createExitUnit(exit, opened)).state === 'ready',
  };
}

/** Lists what in the workspace's texts leads out of it, with its state. Reads the texts at each call. */
export function listTextExits(opened: OpenedHooks): readonly ListedUnit[] {
  return findTextExits(findInstructionPaths(opened)).map((exit) => {
    const unit = createExitUnit(exit, opened);
    const found: FoundTextExit = { kind: 'include', unit, target: exit.target };
    return { ...opened.hookSet.status(unit), found, timeoutMs: 0, onFailure: 'open' };
  });
}

/** Binds the including file and the path that it leads to, not their bytes: both are read as they are. */
function createExitUnit(
  { file, include, target }: TextExit,
  { workspaceRoots, surroundings }: Pick<OpenedHooks, 'workspaceRoots' | 'surroundings'>,
): DiscoveredUnit {
  const root = workspaceRoots.find((each) => isInside(each, file)) ?? workspaceRoots[0] ?? null;
  const home = surroundings.home === null ? null : findRealPath(surroundings.home);
  const places = { cwd: root ?? path.dirname(file), home };
  const name = findPathInside(places.cwd, file) ?? formatPath(file, places);
  // With `~`, so that a lock holds on another machine.
  const portableTarget = formatPath(target, { cwd: '\0', home });
  const id = `include:${name}:${portableTarget}`;
  return {
    id,
    ownId: id,
    dialect: 'claude',
    eventName: 'instructions',
    path: file,
    line: null,
    place: 'workspace',
    root,
    binds: {
      entry: file,
      text: JSON.stringify({ file: name, include, target: portableTarget }),
      files: [],
      directories: [],
    },
    notes: [],
    problem: null,
    details: {
      type: include === null ? 'link' : 'include',
      source: 'project',
      runs: portableTarget,
    },
  };
}
