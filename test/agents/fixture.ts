import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { type AgentsMachine, createPlace, loadAgent } from '../../src/agents/agents.ts';
import type { InstallFile, InstallScope } from '../../src/dialects/install.ts';

/** A home directory, a project beside it, and the machine that has them. */
export interface AgentsFixture {
  readonly home: string;
  readonly project: string;
  readonly machine: AgentsMachine;
}

/** Creates a home in which the agents' directories are, so that all count as installed. */
export function createAgentsFixture(env: Readonly<Record<string, string>> = {}): AgentsFixture {
  const { home, project, remove } = createDirectories();
  onTestFinished(remove);
  return { home, project, machine: createMachine(home, project, env) };
}

export interface Directories {
  readonly home: string;
  readonly project: string;
  readonly remove: () => void;
}

export function createDirectories(): Directories {
  const directory = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hookline-agents-')));
  const home = path.join(directory, 'home');
  const project = path.join(directory, 'project');
  for (const name of AGENT_DIRECTORIES) mkdirSync(path.join(home, name), { recursive: true });
  mkdirSync(path.join(project, '.git'), { recursive: true });
  return { home, project, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

const AGENT_DIRECTORIES = [
  '.claude',
  '.cline',
  '.codex',
  '.copilot',
  '.cursor',
  '.factory',
  '.gemini',
  '.qwen',
  '.config/opencode',
];

export function createMachine(
  home: string,
  project: string,
  env: Readonly<Record<string, string>> = {},
): AgentsMachine {
  return {
    project,
    stateDirectory: path.join(home, '.hookline'),
    surroundings: {
      cwd: project,
      env: { PATH: path.join(home, 'bin'), HOME: home, ...env },
      platform: process.platform,
      home,
      nodePath: process.execPath,
    },
  };
}

/** The files of an agent with our entries, as its folder lists them. */
export async function listAgentFiles(
  name: string,
  machine: AgentsMachine,
  scope: InstallScope = 'user',
): Promise<readonly InstallFile[]> {
  const { install } = await loadAgent(name);
  return install.listFiles(createPlace(name, scope, machine));
}

export function write(file: string, text: string): string {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** Everything below a directory but Hookline's own state: each file with its mode and bytes. */
export function readTree(directory: string): Readonly<Record<string, string>> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  const found = entries.flatMap((entry): readonly (readonly [string, string])[] => {
    const file = path.join(entry.parentPath, entry.name);
    const name = path.relative(directory, file);
    if (name.startsWith('.hookline') || name.includes('hook-events')) return [];
    if (entry.isDirectory()) return [[name, 'directory']];
    if (entry.isSymbolicLink()) return [[name, 'link']];
    const mode = (statSync(file).mode & 0o777).toString(8);
    return [[name, `${mode} ${readFileSync(file).toString('latin1')}`]];
  });
  return Object.fromEntries(found.toSorted(([one], [other]) => one.localeCompare(other)));
}
