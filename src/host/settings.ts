import { isRecord, getTypeName } from '../base/json.ts';

/** What a person may set for one hook, by its id. */
export interface HookOverride {
  readonly timeoutMs?: number;
  readonly onFailure?: 'open' | 'block';
  readonly profile?: 'classic' | 'sdk';
}

/** A hook that is switched off: by id alone, or in one workspace only. */
export interface DisabledHook {
  readonly id: string;
  readonly root: string | null;
  /** Of what an entry of a settings file said then; it counts only as long as it says that. */
  readonly sha256?: string;
}

/** All settings with their values; the names are those of the configuration file. */
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

/** What was read, or what it should have been. */
export type Read<Value> = { readonly value: Value } | { readonly expected: string };

export interface Setting<Value> {
  readonly about: string;
  readonly standard: Value;
  readonly read: (written: unknown) => Read<Value>;
  /** An environment variable that sets it, as a string. */
  readonly variable?: string;
  /** What a workspace may make of it; absent when a workspace may not touch it at all. */
  readonly tighten?: (current: Value, offered: Value) => Value;
}

/** Every setting there is: what it means, what it is by default, and who may set it. */
export const SETTINGS: { readonly [Name in SettingName]: Setting<Settings[Name]> } = {
  'hooks.enabled': {
    about: 'Whether hooks run at all.',
    standard: true,
    read: readBoolean,
    variable: 'HOOKLINE_HOOKS',
  },
  'hooks.disabled': {
    about:
      'Hooks that are switched off: ids, or objects with `id`, `root` and `sha256`. `hooks disable` writes it.',
    standard: [],
    read: readDisabled,
  },
  'hooks.timeoutMs': {
    about: 'How long a file hook may run before it is ended, in milliseconds.',
    standard: 30_000,
    read: readPositive,
    variable: 'HOOK_EXECUTION_TIMEOUT_MS',
  },
  'hooks.onFailure': {
    about: 'What a failing hook means: `open` lets the action go on, `block` refuses it.',
    standard: 'open',
    read: oneOf('open', 'block'),
    tighten: (current, offered) => (offered === 'block' ? offered : current),
  },
  'hooks.overrides': {
    about: 'Settings of single hooks, by id: `timeoutMs`, `onFailure`, `profile`.',
    standard: {},
    read: readOverrides,
  },
  'cline.cancel': {
    about: 'What `cancel` on a tool call does: `deny` that call, or `stop` the run.',
    standard: 'deny',
    read: oneOf('deny', 'stop'),
    tighten: (current, offered) => (offered === 'stop' ? offered : current),
  },
  'cline.maxContextChars': {
    about: 'How much context one file hook may give the model, in characters.',
    standard: 50_000,
    read: readPositive,
    variable: 'MAX_CONTEXT_MODIFICATION_SIZE',
    tighten: (current, offered) => Math.min(current, offered),
  },
  'model.provider': {
    about: 'Whose model the agent uses: `anthropic`, `openai`, `gemini`, `openrouter`, `ollama` …',
    standard: 'anthropic',
    read: readText,
    variable: 'HOOKLINE_PROVIDER',
  },
  'model.id': {
    about: 'The model of that provider; empty for its usual one.',
    standard: '',
    read: readText,
    variable: 'HOOKLINE_MODEL',
  },
  'model.baseUrl': {
    about: 'Where that provider is reached; empty for its usual address.',
    standard: '',
    read: readText,
    variable: 'HOOKLINE_BASE_URL',
  },
  'model.key': {
    about: 'The key for that provider, when it is not in the environment.',
    standard: '',
    read: readText,
  },
  'agent.maxTurns': {
    about: 'How many requests to the model one prompt may take.',
    standard: 200,
    read: readPositive,
    tighten: (current, offered) => Math.min(current, offered),
  },
  'agent.stopCap': {
    about: 'How often in a row hooks may keep the agent from ending; 0 for ever.',
    standard: 8,
    read: readCount,
    variable: 'CLAUDE_CODE_STOP_HOOK_BLOCK_CAP',
  },
  'agent.compactAt': {
    about: 'The share of the model’s context at which the conversation is summed up.',
    standard: 0.85,
    read: readShare,
  },
  'plugins.isolation': {
    about: 'Where Cline plugins run: `none` in the agent itself, `process` each in one of its own.',
    standard: 'none',
    read: oneOf('none', 'process'),
    variable: 'HOOKLINE_PLUGIN_ISOLATION',
    tighten: (current, offered) => (offered === 'process' ? offered : current),
  },
  'web.allowPrivate': {
    about: 'Whether WebFetch may reach this machine and private networks.',
    standard: false,
    read: readBoolean,
    variable: 'HOOKLINE_WEB_ALLOW_PRIVATE',
  },
  'env.pass': {
    about: 'Provider keys that workspace hooks may see after all, by name.',
    standard: [],
    read: readNames,
  },
  'trace.enabled': {
    about: 'Whether each dispatch leaves an entry in the trace.',
    standard: true,
    read: readBoolean,
  },
  'trace.maxFileBytes': {
    about: 'How large a trace file grows before it is rotated.',
    standard: 8 * 1024 * 1024,
    read: readPositive,
  },
  'trace.maxFiles': {
    about: 'How many trace files are kept.',
    standard: 5,
    read: readPositive,
  },
};

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name);
}

const ON = new Set(['true', 'on', '1', 'yes']);
const OFF = new Set(['false', 'off', '0', 'no']);

function readBoolean(written: unknown): Read<boolean> {
  if (typeof written === 'boolean') return { value: written };
  const word = typeof written === 'string' ? written.trim().toLowerCase() : '';
  if (ON.has(word)) return { value: true };
  return OFF.has(word) ? { value: false } : { expected: 'true or false' };
}

function readPositive(written: unknown): Read<number> {
  const value = typeof written === 'string' && written.trim() !== '' ? Number(written) : written;
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) {
    return { expected: 'a number above 0' };
  }
  return { value };
}

function readCount(written: unknown): Read<number> {
  return written === 0 || written === '0' ? { value: 0 } : readPositive(written);
}

function readShare(written: unknown): Read<number> {
  const read = readPositive(written);
  return 'value' in read && read.value < 1 ? read : { expected: 'a number between 0 and 1' };
}

function readText(written: unknown): Read<string> {
  return typeof written === 'string' ? { value: written.trim() } : { expected: 'text' };
}

function oneOf<Word extends string>(...words: readonly Word[]): (written: unknown) => Read<Word> {
  return (written) => {
    const value = words.find((word) => word === written);
    return value === undefined
      ? { expected: words.map((word) => JSON.stringify(word)).join(' or ') }
      : { value };
  };
}

function readNames(written: unknown): Read<readonly string[]> {
  const expected = 'an array of names';
  if (!Array.isArray(written)) return { expected };
  const value = written.filter((name) => typeof name === 'string');
  return value.length === written.length ? { value } : { expected };
}

function readDisabled(written: unknown): Read<readonly DisabledHook[]> {
  const expected = 'an array of hook ids, or of objects with "id" and "root"';
  if (!Array.isArray(written)) return { expected };
  const value = written.flatMap(readDisabledHook);
  return value.length === written.length ? { value } : { expected };
}

/** The entry, or nothing when it is none. */
export function readDisabledHook(written: unknown): DisabledHook[] {
  if (typeof written === 'string') return [{ id: written, root: null }];
  if (!isRecord(written) || typeof written['id'] !== 'string') return [];
  const { id, root = null, sha256 } = written;
  if (root !== null && typeof root !== 'string') return [];
  if (sha256 === undefined) return [{ id, root }];
  return typeof sha256 === 'string' ? [{ id, root, sha256 }] : [];
}

function readOverrides(written: unknown): Read<Readonly<Record<string, HookOverride>>> {
  if (!isRecord(written))
    return { expected: `an object by hook id, found ${getTypeName(written)}` };
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
  onFailure: oneOf('open', 'block'),
  profile: oneOf('classic', 'sdk'),
};

function readOverride(id: string, written: unknown): Read<HookOverride> {
  if (!isRecord(written)) return { expected: `an object for "${id}"` };
  const value: Record<string, unknown> = {};
  for (const [key, given] of Object.entries(written)) {
    if (!isOverrideKey(key)) {
      return { expected: `for "${id}" only ${Object.keys(OVERRIDES).join(', ')}` };
    }
    const read = OVERRIDES[key](given);
    if ('expected' in read) return { expected: `"${key}" of "${id}" to be ${read.expected}` };
    value[key] = read.value;
  }
  return { value };
}

function isOverrideKey(key: string): key is keyof typeof OVERRIDES {
  return Object.hasOwn(OVERRIDES, key);
}
