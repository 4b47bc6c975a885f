import { mkdirSync } from 'node:fs';
import path from 'node:path';
import {
  createPermissions,
  type PermissionsOptions,
} from '../../src/permissions/create-permissions.ts';
import { DIALECTS } from '../../src/dialects/index.ts';
import type {
  PermissionBehavior,
  PermissionCall,
  Permissions,
} from '../../src/permissions/permissions.ts';
import { ProtectedPaths } from '../../src/permissions/protected-paths.ts';
import type { PermissionRuleSetting } from '../../src/permissions/rules/permission-rule.ts';
import { createGitProfiles } from '../../src/process/git/git-profiles.ts';
import { createProgramSearch } from '../../src/process/search-path.ts';
import { createDirectory } from '../base/directory.ts';

export interface Machine {
  readonly base: string;
  /** The workspace. */
  readonly root: string;
  readonly home: string;
}

/** A workspace `ws` and a home beside it; files are named from above both. */
export function createMachine(files: Readonly<Record<string, string>> = {}): Machine {
  const base = createDirectory({ 'home/.keep': '', 'ws/.keep': '', ...files });
  return { base, root: path.join(base, 'ws'), home: path.join(base, 'home') };
}

/** `deny Bash(git push:*)` */
export function rule(line: string, source = '.claude/settings.json'): PermissionRuleSetting {
  const [behavior = '', ...text] = line.split(' ');
  return { behavior: behaviorOf(behavior), text: text.join(' '), source };
}

function behaviorOf(word: string): PermissionBehavior {
  const match = (['allow', 'ask', 'deny'] as const).find((each) => each === word);
  if (match === undefined) throw new Error(`no behaviour: ${word}`);
  return match;
}

const PROTECTED_NAMES = DIALECTS.flatMap(({ ownPaths }) => ownPaths?.protected ?? []);

export interface Opening extends Partial<Omit<PermissionsOptions, 'rules'>> {
  readonly rules?: readonly string[];
  /** Rules as they are at each moment, in place of `rules`. */
  readonly followed?: () => readonly PermissionRuleSetting[];
}

export function open(
  { root, home }: Machine,
  { rules = [], followed, ...options }: Opening = {},
): Permissions {
  mkdirSync(path.join(home, '.hookline'), { recursive: true });
  return createPermissions({
    mode: 'default',
    cwd: root,
    roots: [root],
    home,
    directories: [],
    searchPrograms: (cwd, untrusted) =>
      createProgramSearch(process.env['PATH'], { cwd, untrusted }),
    findGitProfile: createGitProfiles({ PATH: process.env['PATH'] ?? '', HOME: home }, 'linux'),
    protectedPaths: new ProtectedPaths(home, [path.join(home, '.hookline')], PROTECTED_NAMES),
    ...options,
    rules: followed ?? rules.map((line) => rule(line)),
  });
}

const TOOLS: Readonly<Record<string, Pick<PermissionCall, 'names' | 'kind'>>> = {
  Bash: { names: ['Bash', 'execute_command', 'run_commands'], kind: 'execute' },
  Read: { names: ['Read', 'read_file', 'read_files'], kind: 'read' },
  Grep: { names: ['Grep', 'search_files', 'search_codebase'], kind: 'read' },
  Glob: { names: ['Glob', 'list_files'], kind: 'read' },
  Write: { names: ['Write', 'write_to_file', 'editor'], kind: 'edit' },
  Edit: { names: ['Edit', 'replace_in_file', 'editor'], kind: 'edit' },
  NotebookEdit: { names: ['NotebookEdit'], kind: 'edit' },
  WebFetch: { names: ['WebFetch', 'web_fetch', 'fetch_web_content'], kind: 'fetch' },
  Agent: { names: ['Agent', 'Task', 'new_task'], kind: 'plan' },
  Skill: { names: ['Skill'], kind: 'plan' },
  TodoWrite: { names: ['TodoWrite'], kind: 'plan' },
  ExitPlanMode: { names: ['ExitPlanMode'], kind: 'ask' },
  AskUserQuestion: { names: ['AskUserQuestion'], kind: 'ask' },
};

const KEYS: Readonly<Record<string, string>> = {
  Bash: 'command',
  Grep: 'path',
  Glob: 'pattern',
  NotebookEdit: 'notebook_path',
  WebFetch: 'url',
  Agent: 'subagent_type',
  Skill: 'skill',
};

/** A call of a tool by what it is about: a command, a path, an address. */
export function call(name: string, about: string, cwd: string): PermissionCall {
  const tool = TOOLS[name] ?? { names: [name], kind: 'foreign' as const };
  const key = KEYS[name] ?? 'file_path';
  const isPath = key.endsWith('path');
  return { ...tool, input: { [key]: isPath ? path.resolve(cwd, about) : about }, cwd };
}

export function bash(command: string, cwd: string): PermissionCall {
  return call('Bash', command, cwd);
}
