import { isRecord, getTypeName } from '../base/json.ts';
import {
  isPermissionMode,
  PERMISSION_MODES,
  type PermissionBehavior,
  type PermissionRuleText,
  type PermissionUpdate,
} from './permissions.ts';

/** What a hook or a person said about later calls, and what of it is no use. */
export interface ParsedUpdate {
  readonly update: PermissionUpdate | null;
  readonly notes: readonly string[];
}

/** Reads one update. Never throws. */
export function parseUpdate(given: unknown): ParsedUpdate {
  if (!isRecord(given)) return refused(`expected an object, found ${getTypeName(given)}`);
  const { type } = given;
  const update = isType(type) ? READERS[type](given, type) : unknownType(type);
  if (typeof update === 'string') return refused(update);
  return { update, notes: noteDestination(given['destination']) };
}

function refused(why: string): ParsedUpdate {
  return { update: null, notes: [`a permission update was not used: ${why}`] };
}

type Type = PermissionUpdate['type'];
type Given = Readonly<Record<string, unknown>>;
type Reader = (given: Given, type: Type) => PermissionUpdate | string;

const READERS: Readonly<Record<Type, Reader>> = {
  addRules: (given) => readRules(given, 'addRules'),
  replaceRules: (given) => readRules(given, 'replaceRules'),
  removeRules: (given) => readRules(given, 'removeRules'),
  setMode: readMode,
  addDirectories: (given) => readDirectories(given, 'addDirectories'),
  removeDirectories: (given) => readDirectories(given, 'removeDirectories'),
};

function isType(type: unknown): type is Type {
  return typeof type === 'string' && Object.hasOwn(READERS, type);
}

function unknownType(type: unknown): string {
  const found = typeof type === 'string' ? JSON.stringify(type) : getTypeName(type);
  return `"type" should be ${Object.keys(READERS).join(', ')}, found ${found}`;
}

const BEHAVIORS: readonly PermissionBehavior[] = ['allow', 'ask', 'deny'];

function readRules(
  given: Given,
  type: 'addRules' | 'replaceRules' | 'removeRules',
): PermissionUpdate | string {
  const behavior = BEHAVIORS.find((each) => each === given['behavior']);
  if (behavior === undefined) return `"behavior" of ${type} should be allow, ask or deny`;
  const { rules: listed } = given;
  const rules = Array.isArray(listed) ? listed.flatMap(readRuleText) : [];
  if (!Array.isArray(listed) || rules.length !== listed.length) {
    return `"rules" of ${type} should be a list of objects with "toolName" and perhaps "ruleContent"`;
  }
  return { type, rules, behavior, destination: SESSION };
}

function readRuleText(given: unknown): PermissionRuleText[] {
  if (!isRecord(given) || typeof given['toolName'] !== 'string') return [];
  const { toolName, ruleContent = null } = given;
  if (ruleContent === null) return [{ toolName }];
  return typeof ruleContent === 'string' ? [{ toolName, ruleContent }] : [];
}

function readMode({ mode }: Given): PermissionUpdate | string {
  if (isPermissionMode(mode)) return { type: 'setMode', mode, destination: SESSION };
  return `"mode" of setMode should be one of ${PERMISSION_MODES.join(', ')}`;
}

function readDirectories(
  { directories: listed }: Given,
  type: 'addDirectories' | 'removeDirectories',
): PermissionUpdate | string {
  const directories = Array.isArray(listed) ? listed.filter(isPath) : [];
  if (!Array.isArray(listed) || directories.length !== listed.length) {
    return `"directories" of ${type} should be a list of paths`;
  }
  return { type, directories, destination: SESSION };
}

function isPath(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !value.includes('\0');
}

const SESSION = 'session';

function noteDestination(destination: unknown): readonly string[] {
  if (destination === SESSION || destination === undefined) return [];
  const named = typeof destination === 'string' ? destination : getTypeName(destination);
  return [
    `a permission update for ${JSON.stringify(named)} counts for this session only: no file is changed`,
  ];
}
