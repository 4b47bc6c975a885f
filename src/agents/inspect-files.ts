import { getErrorMessage, isHooklineError } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';
import type {
  AgentInstall,
  Cause,
  EntriesFile,
  InstallFile,
  InstallPlace,
  OwnFile,
} from '../dialects/install.ts';
import { compileLinear } from '../hooks/matcher.ts';
import { checkSettingsText, listEntries, type WrittenEntry } from './entries.ts';
import { openSettingsFile } from './settings-file.ts';

/** What stands in one settings file of an agent. */
export interface InspectedFile {
  readonly path: string;
  /** `ours`: entries of ours, or a file of ours. `free`: nothing of ours. */
  readonly content: 'ours' | 'free' | 'occupied' | 'broken';
  /** The commands of our entries. */
  readonly commands: readonly string[];
  readonly causes: readonly Cause[];
}

/** Reads the files of one scope, and finds what keeps our entries in them from being run. */
export function inspectFiles(install: AgentInstall, place: InstallPlace): readonly InspectedFile[] {
  return install.listFiles(place).map((file) => inspectFile(file, install, place));
}

function inspectFile(file: InstallFile, install: AgentInstall, place: InstallPlace): InspectedFile {
  try {
    const { text, mode } = openSettingsFile(file.path, null);
    return file.kind === 'own'
      ? inspectOwnFile(file, text, mode, place)
      : inspectEntries(file, text, install, place);
  } catch (error) {
    if (!isHooklineError(error)) throw error;
    const message = `${file.path}: ${getErrorMessage(error)}`;
    const causes = [{ code: 'file-broken', message }] as const;
    return { path: file.path, content: 'broken', commands: [], causes };
  }
}

function inspectOwnFile(
  { path, isOurs, mode: expectedMode }: OwnFile,
  text: string | null,
  mode: number,
  { command, surroundings }: InstallPlace,
): InspectedFile {
  if (text === null) return { path, content: 'free', commands: [], causes: [] };
  if (!isOurs(text)) {
    const message = `${path} is a file of somebody else.`;
    return {
      path,
      content: 'occupied',
      commands: [],
      causes: [{ code: 'file-occupied', message }],
    };
  }
  const isUnable = surroundings.platform !== 'win32' && (expectedMode & ~mode & 0o111) !== 0;
  const message = `${path} is not executable, so that the agent skips it.`;
  const causes = isUnable ? [{ code: 'not-executable' as const, message }] : [];
  return { path, content: 'ours', commands: [command], causes };
}

function inspectEntries(
  file: EntriesFile,
  text: string | null,
  install: AgentInstall,
  { isOwnCommand }: InstallPlace,
): InspectedFile {
  const { path, container, entries } = file;
  if (text !== null) checkSettingsText(text);
  const own = listEntries(text ?? '', container).filter(({ command }) => isOwnCommand(command));
  if (own.length === 0) return { path, content: 'free', commands: [], causes: [] };
  const missing = Object.keys(entries).filter((event) => !own.some((each) => each.event === event));
  return {
    path,
    content: 'ours',
    commands: own.map(({ command }) => command),
    causes: [
      ...(missing.length === 0 ? [] : [describeMissing(path, missing)]),
      ...own.flatMap((entry) => checkMatcher(path, entry, install)),
      ...own.flatMap((entry) => checkTimeLimit(path, entry, install)),
    ],
  };
}

function describeMissing(path: string, events: readonly string[]): Cause {
  const message = `${path}: our entries of ${events.join(', ')} are missing.`;
  return { code: 'entries-missing', message };
}

/** Matchers of other events name sources and triggers, not tools. */
const TOOL_EVENT = /tool/i;

function checkMatcher(
  path: string,
  { event, matcher, line }: WrittenEntry,
  { matcher: rules }: AgentInstall,
): readonly Cause[] {
  if (rules === undefined || matcher === null || !TOOL_EVENT.test(event)) return [];
  if (fitsAnyTool(matcher, rules)) return [];
  const message = `${path}:${line}: the matcher ${JSON.stringify(matcher)} of ${event} fits no tool.`;
  return [{ code: 'matcher-fits-nothing', message }];
}

const MCP_TOOLS = ['mcp__server__tool', 'mcp_server_tool', 'MCP:tool'];

/** Whether a matcher, as an exact list of names or as a pattern, fits a tool of the agent or of a server. */
function fitsAnyTool(
  matcher: string,
  { tools, isAnchored = false }: NonNullable<AgentInstall['matcher']>,
): boolean {
  if (matcher === '' || matcher === '*') return true;
  if (/^[\w|]+$/.test(matcher)) {
    return matcher.split('|').some((name) => tools.includes(name) || name.startsWith('mcp_'));
  }
  const compiled = compileLinear(isAnchored ? `^(?:${matcher})$` : matcher);
  if (compiled.ok) return [...tools, ...MCP_TOOLS].some((name) => compiled.test(name));
  return isNativePattern(matcher);
}

/** A pattern that only the agent's own engine takes may fit; one that none takes does not. */
function isNativePattern(pattern: string): boolean {
  try {
    return new RegExp(pattern) instanceof RegExp;
  } catch {
    return false;
  }
}

/** What our command may need on a busy machine; it takes a few milliseconds otherwise. */
const LEAST_TIME_MS = 5000;

function checkTimeLimit(
  path: string,
  { fields, line, event }: WrittenEntry,
  { timeLimit }: AgentInstall,
): readonly Cause[] {
  if (timeLimit === undefined || !isRecord(fields)) return [];
  const limit = timeLimit.keys.map((key) => fields[key]).find((each) => typeof each === 'number');
  if (limit === undefined || limit * timeLimit.unitMs >= LEAST_TIME_MS) return [];
  const unit = timeLimit.unitMs === 1 ? 'ms' : 's';
  const least = LEAST_TIME_MS / timeLimit.unitMs;
  const message = `${path}:${line}: the time limit of ${event} is ${limit} ${unit}; our command may need ${least} ${unit}.`;
  return [{ code: 'time-limit-short', message }];
}
