import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { appendNode, parseDocument, removeNode } from '../base/edit-json.ts';
import { HooklineError } from '../base/errors.ts';
import { resolveBuiltFile } from '../base/built-files.ts';
import { withFileLock } from '../base/files.ts';
import { isRecord, stripByteOrderMark } from '../base/json.ts';
import { getNodeValue, type Node } from '../base/jsonc.ts';
import { runEdit } from '../dialects/hooks-file.ts';
import { copyEnvironment } from '../process/environment.ts';
import { createProgramFinder } from '../process/program-finder.ts';
import { cleanSearchPath, listUntrustedDirectories } from '../process/search-path.ts';
import { runProgram } from '../process/run.ts';
import type { AgentsMachine } from './agents.ts';
import { applyDisable, applyEnable, checkChanges } from './apply-changes.ts';
import {
  getRecordFile,
  hashText,
  type InstallTarget,
  isSameTarget,
  readBackup,
  readInstallRecord,
  writeInstallRecord,
} from './install-record.ts';
import type { FileChange } from './plan-changes.ts';
import { openSettingsFile } from './settings-file.ts';

const PACKAGE = '@principal-ai/agent-hooks';
/** The name under which the change of a project is recorded, beside those of agents. */
export const NPX_COMPAT = 'npx-compat';

/** The directory of the small package, which is a part of this one. */
function getCompatDirectory(): string {
  return path.join(resolveBuiltFile('..'), 'compat', 'agent-hooks');
}

function createTarget({ project }: AgentsMachine): InstallTarget {
  return { agent: NPX_COMPAT, scope: 'project', project };
}

/** Plans a `file:` development dependency, so that npx finds the package in the project and asks no registry. */
export function planNpxCompat(machine: AgentsMachine): FileChange {
  const { project } = machine;
  const file = openSettingsFile(path.join(project, 'package.json'), project);
  if (file.text === null) {
    throw new HooklineError('USAGE_INVALID', {
      message: `expected a package.json in ${project}, found none`,
      hint: 'Run `npm init` first, or pass --cwd DIR.',
    });
  }
  const { text: current } = file;
  const text = runEdit(file.path, () => setDependency(current, formatSpecifier(project)));
  return { file, text, original: findOriginal(machine, current), mode: file.mode, directories: [] };
}

/** A path inside the project stays valid for others; any other is absolute. */
function formatSpecifier(project: string): string {
  const directory = getCompatDirectory();
  const inside = path.relative(project, directory);
  const isInside = !inside.startsWith('..') && !path.isAbsolute(inside);
  return `file:${(isInside ? inside : directory).split(path.sep).join('/')}`;
}

const SECTIONS = ['dependencies', 'optionalDependencies', 'devDependencies'];

function setDependency(text: string, specifier: string | null): string {
  const mark = text.slice(0, text.length - stripByteOrderMark(text).length);
  let body = text.slice(mark.length);
  if (specifier !== null && readDependency(body, 'devDependencies') === specifier) return text;
  for (const section of SECTIONS) {
    const node = findSection(body, section)?.children?.find(
      ({ children }) => children?.[0]?.value === PACKAGE,
    );
    if (node !== undefined) body = removeNode(body, node);
  }
  if (specifier === null) return mark + body;
  const section = findSection(body, 'devDependencies');
  return (
    mark +
    (section === null
      ? appendNode(body, parseObject(body), {
          key: 'devDependencies',
          value: { [PACKAGE]: specifier },
        })
      : appendNode(body, section, { key: PACKAGE, value: specifier }))
  );
}

function readDependency(body: string, section: string): unknown {
  const node = findSection(body, section);
  const value: unknown = node === null ? null : getNodeValue(node);
  return isRecord(value) ? value[PACKAGE] : undefined;
}

function findSection(body: string, name: string): Node | null {
  const property = parseObject(body).children?.find(
    ({ children }) => children?.[0]?.value === name,
  );
  const value = property?.children?.[1];
  return value?.type === 'object' ? value : null;
}

function parseObject(body: string): Node {
  const root = parseDocument(body);
  if (typeof root !== 'string' && root.type === 'object') return root;
  throw new HooklineError('CONFIG_INVALID', {
    message: typeof root === 'string' ? root : 'expected a JSON object, found something else',
    hint: 'Fix the file by hand; nothing was changed.',
  });
}

function findOriginal(machine: AgentsMachine, text: string): string {
  const { installations } = readInstallRecord(machine.stateDirectory);
  const [installed] =
    installations.find((each) => isSameTarget(each, createTarget(machine)))?.files ?? [];
  const isUnchanged = installed?.after === hashText(text) && installed.before !== null;
  const backup = isUnchanged ? readBackup(machine.stateDirectory, installed.before) : null;
  return backup ?? setDependency(text, null);
}

const NPM_TIME_LIMIT_MS = 120_000;

/** Writes the dependency and lets npm link it. Without npm, or when it fails, `problem` says what is left to do. */
export async function addNpxCompat(
  machine: AgentsMachine,
  change: FileChange,
  now: number,
): Promise<{ readonly problem: string | null }> {
  const { stateDirectory, project } = machine;
  const target = createTarget(machine);
  const lockFile = path.join(project, 'package-lock.json');
  return withFileLock(getRecordFile(stateDirectory), async () => {
    checkChanges([change]);
    const lock = openSettingsFile(lockFile, project);
    const record = readInstallRecord(stateDirectory);
    const unchangedLock = {
      file: lock,
      text: lock.text,
      original: lock.text,
      mode: lock.mode,
      directories: [],
    };
    const options = { stateDirectory, record, target, now, onStep: () => undefined };
    const changed = applyEnable([change, unchangedLock], options);
    const problem = await linkPackage(machine);
    // What npm made of the lock file is what will be undone.
    const after = openSettingsFile(lockFile, project).text;
    writeInstallRecord(stateDirectory, {
      ...changed,
      installations: changed.installations.map((each) =>
        isSameTarget(each, target)
          ? {
              ...each,
              files: each.files.map((file) =>
                file.path === lockFile
                  ? { ...file, after: after === null ? null : hashText(after), mode: 0o644 }
                  : file,
              ),
            }
          : each,
      ),
    });
    return { problem };
  });
}

async function linkPackage({ surroundings, project }: AgentsMachine): Promise<string | null> {
  const other = ['pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'bun.lockb'].find((name) =>
    existsSync(path.join(project, name)),
  );
  if (other !== undefined) return `${other} shows another package manager: install with that one.`;
  const { env, platform, home } = surroundings;
  const directories = cleanSearchPath(
    env['PATH'],
    listUntrustedDirectories([project], home),
    platform,
  );
  const npm = createProgramFinder(directories, platform, env['PATHEXT'])('npm');
  if (npm === null) return 'npm was not found: run `npm install` where it is.';
  const { exitCode, stderr } = await runProgram({
    file: npm,
    args: ['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'],
    cwd: project,
    env: copyEnvironment(env),
    stdin: '',
    timeoutMs: NPM_TIME_LIMIT_MS,
  });
  if (exitCode === 0) return null;
  return `npm install failed: run it yourself.\n${stderr.text.trim()}`;
}

/** Undoes the change of a project; null when there was none. */
export async function removeNpxCompat(
  machine: AgentsMachine,
  now: number,
): Promise<readonly string[]> {
  const { stateDirectory, project } = machine;
  const target = createTarget(machine);
  return withFileLock(getRecordFile(stateDirectory), () => {
    const record = readInstallRecord(stateDirectory);
    const installed = record.installations.find((each) => isSameTarget(each, target));
    if (installed === undefined) return [];
    const changes = installed.files.flatMap(({ path: file, before, after, mode }) => {
      const opened = openSettingsFile(file, project);
      const isUnchanged = after === (opened.text === null ? null : hashText(opened.text));
      const backup = before === null ? null : readBackup(stateDirectory, before);
      const isPackage = path.basename(file) === 'package.json';
      if (!isUnchanged && (!isPackage || opened.text === null)) return [];
      const edited = opened.text === null ? null : setDependency(opened.text, null);
      const text = isUnchanged ? backup : edited;
      return [{ file: opened, text, original: text, mode: opened.mode || mode, directories: [] }];
    });
    checkChanges(changes);
    applyDisable(changes, { stateDirectory, record, target, now, onStep: () => undefined });
    for (const name of ['.bin/agent-hooks', PACKAGE]) {
      rmSync(path.join(project, 'node_modules', name), { force: true, recursive: true });
    }
    return changes.filter(({ file, text }) => file.text !== text).map(({ file }) => file.path);
  });
}
