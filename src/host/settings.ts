import { isRecord, getTypeName } from '../base/json.ts';

/** Settings of one hook. */
interface HookOverride {
  readonly timeoutMs?: number;
  readonly onFailure?: 'open' | 'block';
  readonly profile?: 'classic' | 'sdk';
}

/** A disabled hook: by id alone, or in one workspace only. */
export interface DisabledHook {
  readonly id: string;
  readonly root: string | null;
  /** Hash of the entry of a settings file; it applies only as long as the entry is the same. */
  readonly sha256?: string;
}

/** All settings; the names are those of the configuration file. */
export interface Settings {
  readonly 'hooks.enabled': boolean;
  readonly 'hooks.disabled': readonly DisabledHook[];
  readonly 'hooks.timeoutMs': number;
  readonly 'hooks.onFailure': 'open' | 'block';
  readonly 'hooks.overrides': Readonly<Record<string, HookOverride>>;
  readonly 'cline.cancel': 'deny' | 'stop';
  readonly 'cline.maxContextChars': number;
  readonly 'model.provider': string;
  readonly 'model.id': string;
  readonly 'model.baseUrl': string;
  readonly 'model.key': string;
  readonly 'agent.maxTurns': number;
  readonly 'agent.stopCap': number;
  readonly 'agent.compactAt': number;
  readonly 'plugins.isolation': 'none' | 'process';
  readonly 'web.allowPrivate': boolean;
  readonly 'env.pass': readonly string[];
  readonly 'trace.enabled': boolean;
  readonly 'trace.maxFileBytes': number;
  readonly 'trace.maxFiles': number;
}

export type SettingName = keyof Settings;

/** The value, or what was expected instead. */
type SettingResult<Value> = { readonly value: Value } | { readonly expected: string };

export interface Setting<Value> {
  readonly description: string;
  readonly defaultValue: Value;
  readonly read: (written: unknown) => SettingResult<Value>;
  /** An environment variable that sets it, as a string. */
  readonly variable?: string;
  /** The value that a workspace may set; absent when a workspace may not set it at all. */
  readonly tighten?: (current: Value, offered: Value) => Value;
}

/** Every setting: its meaning, its default, and who may set it. */
export const SETTINGS: { readonly [Name in SettingName]: Setting<Settings[Name]> } = {
  'hooks.enabled': {
    description: 'Whether hooks run at all.',
    defaultValue: true,
    read: readBoolean,
    variable: 'HOOKLINE_HOOKS',
  },
  'hooks.disabled': {
    description:
      'Disabled hooks: ids, or objects with `id`, `root` and `sha256`. `hooks disable` writes it.',
    defaultValue: [],
    read: readDisabled,
  },
  'hooks.timeoutMs': {
    description: 'How long a file hook may run before it is ended, in milliseconds.',
    defaultValue: 30_000,
    read: readPositive,
    variable: 'HOOK_EXECUTION_TIMEOUT_MS',
  },
  'hooks.onFailure': {
    description: 'What a failing hook means: `open` lets the action go on, `block` refuses it.',
    defaultValue: 'open',
    read: createChoiceReader('open', 'block'),
    tighten: (current, offered) => (offered === 'block' ? offered : current),
  },
  'hooks.overrides': {
    description: 'Settings of single hooks, by id: `timeoutMs`, `onFailure`, `profile`.',
    defaultValue: {},
    read: readOverrides,
  },
  'cline.cancel': {
    description: 'What `cancel` on a tool call does: `deny` that call, or `stop` the run.',
    defaultValue: 'deny',
    read: createChoiceReader('deny', 'stop'),
    tighten: (current, offered) => (offered === 'stop' ? offered : current),
  },
  'cline.maxContextChars': {
    description: 'How much context one file hook may give the model, in characters.',
    defaultValue: 50_000,
    read: readPositive,
    variable: 'MAX_CONTEXT_MODIFICATION_SIZE',
    tighten: (current, offered) => Math.min(current, offered),
  },
  'model.provider': {
    description:
      'Whose model the agent uses: `anthropic`, `openai`, `gemini`, `openrouter`, `ollama` …',
    defaultValue: 'anthropic',
    read: readText,
    variable: 'HOOKLINE_PROVIDER',
  },
  'model.id': {
    description: 'The model of that provider; empty for its usual one.',
    defaultValue: '',
    read: readText,
    variable: 'HOOKLINE_MODEL',
  },
  'model.baseUrl': {
    description: 'Where that provider is reached; empty for its usual address.',
    defaultValue: '',
    read: readText,
    variable: 'HOOKLINE_BASE_URL',
  },
  'model.key': {
    description: 'The key for that provider, when it is not in the environment.',
    defaultValue: '',
    read: readText,
  },
  'agent.maxTurns': {
    description: 'How many requests to the model one prompt may take.',
    defaultValue: 200,
    read: readPositive,
    tighten: (current, offered) => Math.min(current, offered),
  },
  'agent.stopCap': {
    description: 'How often in a row hooks may keep the agent from ending; 0 for no limit.',
    defaultValue: 8,
    read: readCount,
    variable: 'CLAUDE_CODE_STOP_HOOK_BLOCK_CAP',
  },
  'agent.compactAt': {
    description: 'The share of the model’s context at which the conversation is compacted.',
    defaultValue: 0.85,
    read: readShare,
  },
  'plugins.isolation': {
    description:
      'Where Cline plugins run: `none` in the agent’s process, `process` each in its own.',
    defaultValue: 'none',
    read: createChoiceReader('none', 'process'),
    variable: 'HOOKLINE_PLUGIN_ISOLATION',
    tighten: (current, offered) => (offered === 'process' ? offered : current),
  },
  'web.allowPrivate': {
    description: 'Whether WebFetch may reach this machine and private networks.',
    defaultValue: false,
    read: readBoolean,
    variable: 'HOOKLINE_WEB_ALLOW_PRIVATE',
  },
  'env.pass': {
    description: 'Provider keys that workspace hooks get, by name.',
    defaultValue: [],
    read: readNames,
  },
  'trace.enabled': {
    description: 'Whether each dispatch is written to the trace.',
    defaultValue: true,
    read: readBoolean,
  },
  'trace.maxFileBytes': {
    description: 'How large a trace file grows before it is rotated.',
    defaultValue: 8 * 1024 * 1024,
    read: readPositive,
  },
  'trace.maxFiles': {
    description: 'How many trace files are kept.',
    defaultValue: 5,
    read: readPositive,
  },
};

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name);
}

const TRUE_WORDS = new Set(['true', 'on', '1', 'yes']);
const FALSE_WORDS = new Set(['false', 'off', '0', 'no']);

function readBoolean(written: unknown): SettingResult<boolean> {
  if (typeof written === 'boolean') return { value: written };
  const word = typeof written === 'string' ? written.trim().toLowerCase() : '';
  if (TRUE_WORDS.has(word)) return { value: true };
  return FALSE_WORDS.has(word) ? { value: false } : { expected: 'true or false' };
}

function readPositive(written: unknown): SettingResult<number> {
  const value = typeof written === 'string' && written.trim() !== '' ? Number(written) : written;
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) {
    return { expected: 'a number above 0' };
  }
  return { value };
}

function readCount(written: unknown): SettingResult<number> {
  return written === 0 || written === '0' ? { value: 0 } : readPositive(written);
}

function readShare(written: unknown): SettingResult<number> {
  const read = readPositive(written);
  return 'value' in read && read.value < 1 ? read : { expected: 'a number between 0 and 1' };
}

function readText(written: unknown): SettingResult<string> {
  return typeof written === 'string' ? { value: written.trim() } : { expected: 'text' };
}

function createChoiceReader<Word extends string>(
  ...words: readonly Word[]
): (written: unknown) => SettingResult<Word> {
  return (written) => {
    const value = words.find((word) => word === written);
    return value === undefined
      ? { expected: words.map((word) => JSON.stringify(word)).join(' or ') }
      : { value };
  };
}

function readNames(written: unknown): SettingResult<readonly string[]> {
  const expected = 'an array of names';
  if (!Array.isArray(written)) return { expected };
  const value = written.filter((name) => typeof name === 'string');
  return value.length === written.length ? { value } : { expected };
}

function readDisabled(written: unknown): SettingResult<readonly DisabledHook[]> {
  const expected = 'an array of hook ids, or of objects with "id" and "root"';
  if (!Array.isArray(written)) return { expected };
  const value = written.flatMap(readDisabledHook);
  return value.length === written.length ? { value } : { expected };
}

/** The entry, or an empty list when it is invalid. */
export function readDisabledHook(written: unknown): DisabledHook[] {
  if (typeof written === 'string') return [{ id: written, root: null }];
  if (!isRecord(written) || typeof written['id'] !== 'string') return [];
  const { id, root = null, sha256 } = written;
  if (root !== null && typeof root !== 'string') return [];
  if (sha256 === undefined) return [{ id, root }];
  return typeof sha256 === 'string' ? [{ id, root, sha256 }] : [];
}

function readOverrides(written: unknown): SettingResult<Readonly<Record<string, HookOverride>>> {
  if (!isRecord(written)) {
    return { expected: `an object by hook id, found ${getTypeName(written)}` };
  }
  const value: Record<string, HookOverride> = {};
  for (const [id, override] of Object.entries(written)) {
    const read = readOverride(id, override);
    if ('expected' in read) return read;
    value[id] = read.value;
  }
  return { value };
}

const OVERRIDES = {
  timeoutMs: readPositive,
  onFailure: createChoiceReader('open', 'block'),
  profile: createChoiceReader('classic', 'sdk'),
};

function readOverride(id: string, written: unknown): SettingResult<HookOverride> {
  if (!isRecord(written)) return { expected: `an object for "${id}"` };
  const value: Record<string, unknown> = {};
  for (const [key, fieldValue] of Object.entries(written)) {
    if (!isOverrideKey(key)) {
      return { expected: `for "${id}" only ${Object.keys(OVERRIDES).join(', ')}` };
    }
    const read = OVERRIDES[key](fieldValue);
    if ('expected' in read) return { expected: `"${key}" of "${id}" to be ${read.expected}` };
    value[key] = read.value;
  }
  return { value };
}

function isOverrideKey(key: string): key is keyof typeof OVERRIDES {
  return Object.hasOwn(OVERRIDES, key);
}
