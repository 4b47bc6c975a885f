import { isRecord, getTypeName } from '../base/json.ts';
import {
  isPermissionMode,
  PERMISSION_MODES,
  type PermissionBehavior,
  type PermissionRuleText,
  type PermissionUpdate,
} from './permissions.ts';

/** A permission update of a hook or the user, and notes about what of it is ignored. */
export interface ParsedUpdate {
  readonly update: PermissionUpdate | null;
  readonly notes: readonly string[];
}

/** Never throws. */
export function parseUpdate(value: unknown): ParsedUpdate {
  if (!isRecord(value)) return createRefusal(`expected an object, found ${getTypeName(value)}`);
  const { type } = value;
  const update = isUpdateType(type) ? PARSERS[type](value, type) : describeUnknownType(type);
  if (typeof update === 'string') return createRefusal(update);
  return { update, notes: describeDestination(value['destination']) };
}

function createRefusal(problem: string): ParsedUpdate {
  return { update: null, notes: [`a permission update was ignored: ${problem}`] };
}

type UpdateType = PermissionUpdate['type'];
type Fields = Readonly<Record<string, unknown>>;
type Parser = (value: Fields, type: UpdateType) => PermissionUpdate | string;

const PARSERS: Readonly<Record<UpdateType, Parser>> = {
  addRules: (value) => parseRules(value, 'addRules'),
  replaceRules: (value) => parseRules(value, 'replaceRules'),
  removeRules: (value) => parseRules(value, 'removeRules'),
  setMode: parseMode,
  addDirectories: (value) => parseDirectories(value, 'addDirectories'),
  removeDirectories: (value) => parseDirectories(value, 'removeDirectories'),
};

function isUpdateType(type: unknown): type is UpdateType {
  return typeof type === 'string' && Object.hasOwn(PARSERS, type);
}

function describeUnknownType(type: unknown): string {
  const found = typeof type === 'string' ? JSON.stringify(type) : getTypeName(type);
  return `"type" should be ${Object.keys(PARSERS).join(', ')}, found ${found}`;
}

const BEHAVIORS: readonly PermissionBehavior[] = ['allow', 'ask', 'deny'];

function parseRules(
  value: Fields,
  type: 'addRules' | 'replaceRules' | 'removeRules',
): PermissionUpdate | string {
  const behavior = BEHAVIORS.find((each) => each === value['behavior']);
  if (behavior === undefined) return `"behavior" of ${type} should be allow, ask or deny`;
  const { rules: listed } = value;
  const rules = Array.isArray(listed) ? listed.flatMap(parseRuleText) : [];
  if (!Array.isArray(listed) || rules.length !== listed.length) {
    return `"rules" of ${type} should be a list of objects with "toolName" and perhaps "ruleContent"`;
  }
  return { type, rules, behavior, destination: SESSION };
}

function parseRuleText(value: unknown): PermissionRuleText[] {
  if (!isRecord(value) || typeof value['toolName'] !== 'string') return [];
  const { toolName, ruleContent = null } = value;
  if (ruleContent === null) return [{ toolName }];
  return typeof ruleContent === 'string' ? [{ toolName, ruleContent }] : [];
}

function parseMode({ mode }: Fields): PermissionUpdate | string {
  if (isPermissionMode(mode)) return { type: 'setMode', mode, destination: SESSION };
  return `"mode" of setMode should be one of ${PERMISSION_MODES.join(', ')}`;
}

function parseDirectories(
  { directories: listed }: Fields,
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

function describeDestination(destination: unknown): readonly string[] {
  if (destination === SESSION || destination === undefined) return [];
  const name = typeof destination === 'string' ? destination : getTypeName(destination);
  return [
    `a permission update for ${JSON.stringify(name)} applies to this session only: no file is changed`,
  ];
}
