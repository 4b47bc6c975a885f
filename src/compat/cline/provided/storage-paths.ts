import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findDocuments } from '../../../dialects/shared-directories.ts';
import { readSurroundings } from '../../../host/surroundings.ts';
import { ensureParentDir, resolveClineDataDir, resolveClineDir } from './load-overrides.ts';

// Where Cline keeps what belongs to a user or a workspace. Hookline's own sessions lie elsewhere.

export function resolveSessionDataDir(): string {
  return path.join(resolveClineDataDir(), 'sessions');
}

export function resolveDbDataDir(): string {
  return path.join(resolveClineDataDir(), 'db');
}

export function resolveTeamDataDir(): string {
  return path.join(resolveClineDataDir(), 'teams');
}

export function resolveProviderSettingsPath(): string {
  return path.join(resolveClineDataDir(), 'settings', 'providers.json');
}

export function resolveAgentsConfigDirPath(): string {
  return path.join(resolveClineDir(), 'agents');
}

export function resolveDocumentsClineDirectoryPath(): string {
  const [documents = resolveClineDir()] = findDocuments(readSurroundings());
  return path.join(documents, 'Cline');
}

export function resolveDocumentsExtensionPath(name: string): string {
  return path.join(resolveDocumentsClineDirectoryPath(), name);
}

/** The user's directories come first. */
export function resolveHooksConfigSearchPaths(workspacePath?: string): string[] {
  return [
    resolveDocumentsExtensionPath('Hooks'),
    path.join(resolveClineDir(), 'hooks'),
    ...listInWorkspace(workspacePath, ['.clinerules/hooks', '.cline/hooks']),
  ];
}

export function resolveSkillsConfigSearchPaths(workspacePath?: string): string[] {
  return [
    ...listInWorkspace(workspacePath, ['.clinerules/skills', '.cline/skills', '.agents/skills']),
    path.join(resolveClineDir(), 'skills'),
    path.join(path.dirname(resolveClineDir()), '.agents', 'skills'),
  ];
}

export function resolveRulesConfigSearchPaths(workspacePath?: string): string[] {
  return [
    ...listInWorkspace(workspacePath, ['AGENTS.md', '.clinerules', '.cline/rules']),
    path.join(path.dirname(resolveClineDir()), '.agents', 'AGENTS.md'),
    path.join(resolveClineDir(), 'rules'),
    resolveDocumentsExtensionPath('Rules'),
  ];
}

export function resolveWorkflowsConfigSearchPaths(workspacePath?: string): string[] {
  return [
    ...listInWorkspace(workspacePath, ['.clinerules/workflows']),
    resolveDocumentsExtensionPath('Workflows'),
    path.join(resolveClineDir(), 'workflows'),
    ...listInWorkspace(workspacePath, ['.cline/workflows']),
  ];
}

export function resolveAgentConfigSearchPaths(workspacePath?: string): string[] {
  return [...listInWorkspace(workspacePath, ['.cline/agents']), resolveAgentsConfigDirPath()];
}

function listInWorkspace(workspacePath: string | undefined, places: readonly string[]): string[] {
  return workspacePath === undefined ? [] : places.map((place) => path.join(workspacePath, place));
}

/** Creates the file, with this content, where there is none. */
export function ensureFileExists(filePath: string, content = ''): void {
  if (existsSync(filePath)) return;
  ensureParentDir(filePath);
  writeFileSync(filePath, content, { flag: 'wx' });
}

/** The directory for logs of hooks, which is created. */
export function ensureHookLogDir(): string {
  const directory = path.join(resolveClineDir(), 'hook-logs');
  mkdirSync(directory, { recursive: true });
  return directory;
}
