import { isRecord, getTypeName } from '../base/json.ts';
import {
  BOOLEAN,
  COUNT,
  createChoice,
  POSITIVE_NUMBER,
  SHARE,
  TEXT,
  type Setting,
  type SettingKind,
  type SettingResult,
  type SettingTable,
} from '../base/setting.ts';
import { CACHES } from './sandbox/places.ts';
import { DIALECT_SETTINGS, type DialectSettings } from '../dialects/index.ts';

/** Settings of one hook. */
interface HookOverride {
  readonly timeoutMs?: number;
  readonly onFailure?: 'open' | 'block';
  readonly profile?: 'classic' | 'sdk';
  readonly sandbox?: HookSandbox;
}

/** The profile of the sandbox in which a hook runs, or none. */
type HookSandbox = 'off' | 'workspace' | 'read-only';

/** A disabled hook: by id alone, or in one workspace only. */
export interface DisabledHook {
  readonly id: string;
  readonly root: string | null;
  /** Hash of the entry of a settings file; it applies only as long as the entry is the same. */
  readonly sha256?: string;
}

/** Settings of Hookline itself; the names are those of the configuration file. */
interface OwnSettings {
  readonly 'hooks.enabled': boolean;
  readonly 'hooks.disabled': readonly DisabledHook[];
  readonly 'hooks.timeoutMs': number;
  readonly 'hooks.onFailure': 'open' | 'block';
  readonly 'hooks.sandbox': HookSandbox;
  readonly 'hooks.overrides': Readonly<Record<string, HookOverride>>;
  readonly 'model.provider': string;
  readonly 'model.id': string;
  readonly 'model.baseUrl': string;
  readonly 'model.key': string;
  readonly 'model.effort': 'default' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
  readonly 'agent.maxTurns': number;
  readonly 'agent.stopCap': number;
  readonly 'agent.compactAt': number;
  readonly 'plugins.isolation': 'none' | 'process';
  readonly 'sandbox.mode': 'auto' | 'on' | 'off';
  readonly 'sandbox.write': readonly string[];
  readonly 'sandbox.network': SandboxNetwork;
  readonly 'bash.maxOutputBytes': number;
  readonly 'chat.idleMs': number;
  readonly 'web.allowPrivate': boolean;
  readonly 'trust.requireTerminal': boolean;
  readonly 'env.pass': readonly string[];
  readonly 'bridge.agents': readonly string[];
  readonly 'trace.enabled': boolean;
  readonly 'trace.maxDays': number;
  readonly 'trace.maxBytes': number;
}

/** `on`, `off`, or the hosts that can be reached. */
export type SandboxNetwork = 'on' | 'off' | readonly string[];

/** All settings, those of the dialects among them. */
export type Settings = OwnSettings & DialectSettings;

const NAMES: SettingKind<readonly string[]> = {
  schema: {
    type: 'array',
    items: { type: 'string' },
    description: 'Names of environment variables.',
  },
  read: readNames,
};

const PATHS: SettingKind<readonly string[]> = {
  schema: { type: 'array', items: { type: 'string' }, description: 'Paths; `~/` is your home.' },
  read: readNames,
};

const HOST = /^(?:\*\.)?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;

const NETWORK: SettingKind<SandboxNetwork> = {
  schema: {
    anyOf: [
      { type: 'string', enum: ['on', 'off'] },
      {
        type: 'array',
        items: { type: 'string', pattern: HOST.source },
        description: 'Hosts; `*.` for all below one.',
      },
    ],
  },
  read: readNetwork,
};

const AGENT = /^[a-z][a-z0-9-]{0,63}$/;

const AGENTS: SettingKind<readonly string[]> = {
  schema: {
    type: 'array',
    items: { type: 'string', pattern: AGENT.source },
    description: 'Names of agents.',
  },
  read: readAgents,
};

const DISABLED_HOOKS: SettingKind<readonly DisabledHook[]> = {
  schema: {
    type: 'array',
    items: {
      anyOf: [
        { type: 'string' },
        {
          type: 'object',
          properties: {
            id: { type: 'string', description: 'Id of the hook.' },
            root: {
              type: 'string',
              description: 'The workspace in which it is off; absent for everywhere.',
            },
            sha256: {
              type: 'string',
              description: 'Hash of what an entry said when it was switched off.',
            },
          },
          required: ['id'],
          additionalProperties: false,
        },
      ],
    },
  },
  read: readDisabled,
};

const ON_FAILURE = createChoice('open', 'block');

const HOOK_SANDBOX = createChoice('off', 'workspace', 'read-only');
const HOOK_SANDBOXES: readonly HookSandbox[] = ['off', 'workspace', 'read-only'];

const OVERRIDE_KINDS = {
  timeoutMs: POSITIVE_NUMBER,
  onFailure: ON_FAILURE,
  profile: createChoice('classic', 'sdk'),
  sandbox: HOOK_SANDBOX,
};

const OVERRIDES: SettingKind<Settings['hooks.overrides']> = {
  schema: {
    type: 'object',
    propertyNames: { type: 'string' },
    additionalProperties: {
      type: 'object',
      properties: {
        timeoutMs: {
          ...OVERRIDE_KINDS.timeoutMs.schema,
          description: 'How long it may run, in milliseconds.',
        },
        onFailure: { ...OVERRIDE_KINDS.onFailure.schema, description: 'What its failure means.' },
        profile: {
          ...OVERRIDE_KINDS.profile.schema,
          description: 'The generation of Cline that it was written for.',
        },
        sandbox: { ...OVERRIDE_KINDS.sandbox.schema, description: 'The sandbox that it runs in.' },
      },
      additionalProperties: false,
    },
  },
  read: readOverrides,
};

const DEFAULT_CACHES = CACHES.map((cache) => `~/${cache.path}`);
const SANDBOX_MODES: readonly OwnSettings['sandbox.mode'][] = ['off', 'auto', 'on'];

/** A workspace may only take away: fewer hosts, or no network. */
function tightenNetwork(current: SandboxNetwork, offered: SandboxNetwork): SandboxNetwork {
  if (offered === 'off' || current === 'on') return offered;
  if (current === 'off' || offered === 'on') return current;
  return offered.every((host) => current.includes(host)) ? offered : current;
}

const OWN_SETTINGS: SettingTable<OwnSettings> = {
  'hooks.enabled': {
    description: 'Whether hooks run at all.',
    defaultValue: true,
    ...BOOLEAN,
    variable: 'HOOKLINE_HOOKS',
  },
  'hooks.disabled': {
    description:
      'Disabled hooks: ids, or objects with `id`, `root` and `sha256`. `hooks disable` writes it.',
    defaultValue: [],
    ...DISABLED_HOOKS,
  },
  'hooks.timeoutMs': {
    description: 'How long a file hook may run before it is ended, in milliseconds.',
    defaultValue: 30_000,
    ...POSITIVE_NUMBER,
    variable: 'HOOK_EXECUTION_TIMEOUT_MS',
  },
  'hooks.onFailure': {
    description: 'What a failing hook means: `open` lets the action go on, `block` refuses it.',
    defaultValue: 'open',
    ...ON_FAILURE,
    tighten: (current, offered) => (offered === 'block' ? offered : current),
  },
  'hooks.sandbox': {
    description:
      'The sandbox in which hooks that are programs run: `off`, `workspace` or `read-only`. Trusted hooks have your rights otherwise.',
    defaultValue: 'off',
    ...HOOK_SANDBOX,
    tighten: (current, offered) =>
      HOOK_SANDBOXES.indexOf(offered) > HOOK_SANDBOXES.indexOf(current) ? offered : current,
  },
  'hooks.overrides': {
    description: 'Settings of single hooks, by id: `timeoutMs`, `onFailure`, `profile`, `sandbox`.',
    defaultValue: {},
    ...OVERRIDES,
  },
  'model.provider': {
    description:
      'Whose model the agent uses: `anthropic`, `openai`, `gemini`, `openrouter`, `ollama` …',
    defaultValue: 'anthropic',
    ...TEXT,
    variable: 'HOOKLINE_PROVIDER',
  },
  'model.id': {
    description: 'The model of that provider; empty for its usual one.',
    defaultValue: '',
    ...TEXT,
    variable: 'HOOKLINE_MODEL',
  },
  'model.baseUrl': {
    description: 'Where that provider is reached; empty for its usual address.',
    defaultValue: '',
    ...TEXT,
    variable: 'HOOKLINE_BASE_URL',
  },
  'model.key': {
    description: 'The key for that provider, when it is not in the environment.',
    defaultValue: '',
    ...TEXT,
  },
  'model.effort': {
    description:
      'How much the model reasons: `low`, `medium`, `high`, `xhigh`, `max`, or `default` for what its service uses.',
    defaultValue: 'default',
    ...createChoice('default', 'low', 'medium', 'high', 'xhigh', 'max'),
    variable: 'CLAUDE_CODE_EFFORT_LEVEL',
  },
  'agent.maxTurns': {
    description: 'How many requests to the model one prompt may take.',
    defaultValue: 200,
    ...POSITIVE_NUMBER,
    tighten: (current, offered) => Math.min(current, offered),
  },
  'agent.stopCap': {
    description: 'How often in a row hooks may keep the agent from ending; 0 for no limit.',
    defaultValue: 8,
    ...COUNT,
    variable: 'CLAUDE_CODE_STOP_HOOK_BLOCK_CAP',
  },
  'agent.compactAt': {
    description: 'The share of the model’s context at which the conversation is compacted.',
    defaultValue: 0.85,
    ...SHARE,
  },
  'plugins.isolation': {
    description:
      'Where Cline plugins run: `none` in the agent’s process, `process` each in its own.',
    defaultValue: 'none',
    ...createChoice('none', 'process'),
    variable: 'HOOKLINE_PLUGIN_ISOLATION',
    tighten: (current, offered) => (offered === 'process' ? offered : current),
  },
  'sandbox.mode': {
    description:
      'Whether the agent’s commands run in a sandbox: `auto` where it works, `on` or nothing runs, `off`.',
    defaultValue: 'auto',
    ...createChoice('auto', 'on', 'off'),
    variable: 'HOOKLINE_SANDBOX',
    tighten: (current, offered) =>
      SANDBOX_MODES.indexOf(offered) > SANDBOX_MODES.indexOf(current) ? offered : current,
  },
  'sandbox.write': {
    description:
      'Further places that commands in the sandbox may write; replaces the caches of npm, pnpm, pip, cargo, go, maven and gradle. Program directories never are.',
    defaultValue: DEFAULT_CACHES,
    ...PATHS,
  },
  'sandbox.network': {
    description: 'The network of the sandbox: `on`, `off`, or a list of hosts.',
    defaultValue: 'on',
    ...NETWORK,
    tighten: tightenNetwork,
  },
  'bash.maxOutputBytes': {
    description: 'How much output of one command is kept on disk, in the background too.',
    defaultValue: 64 * 1024 * 1024,
    ...POSITIVE_NUMBER,
    tighten: (current, offered) => Math.min(current, offered),
  },
  'chat.idleMs': {
    description:
      'How long a chat waits for input after a run before it fires Notification (`idle_prompt`), in milliseconds; 0 for never.',
    defaultValue: 60_000,
    ...COUNT,
  },
  'web.allowPrivate': {
    description: 'Whether WebFetch may reach this machine and private networks.',
    defaultValue: false,
    ...BOOLEAN,
    variable: 'HOOKLINE_WEB_ALLOW_PRIVATE',
  },
  'trust.requireTerminal': {
    description:
      'Whether trust needs a terminal: `trust --yes` without one is refused, unless a token of `trust --token` confirms it.',
    defaultValue: false,
    ...BOOLEAN,
  },
  'env.pass': {
    description: 'Provider keys that workspace hooks get, by name.',
    defaultValue: [],
    ...NAMES,
  },
  'bridge.agents': {
    description:
      'Further agents whose events the bridge takes, by name: `POST /<name>-hook`. Lower-case letters, digits and dashes.',
    defaultValue: [],
    ...AGENTS,
  },
  'trace.enabled': {
    description: 'Whether each dispatch of Hookline is stored in the event store.',
    defaultValue: true,
    ...BOOLEAN,
  },
  'trace.maxDays': {
    description: 'How many days events stay in the event store.',
    defaultValue: 30,
    ...POSITIVE_NUMBER,
  },
  'trace.maxBytes': {
    description: 'How large the event store grows before its oldest events are removed.',
    defaultValue: 1024 ** 3,
    ...POSITIVE_NUMBER,
  },
};

/** Every setting: its meaning, its default, and who may set it. */
export const SETTINGS: Readonly<Record<string, Setting>> = {
  ...OWN_SETTINGS,
  ...DIALECT_SETTINGS,
};

export function findSetting(name: string): Setting | null {
  return Object.hasOwn(SETTINGS, name) ? (SETTINGS[name] ?? null) : null;
}

function readNetwork(written: unknown): SettingResult<SandboxNetwork> {
  if (written === 'on' || written === 'off') return { value: written };
  const hosts = readNames(written);
  const expected =
    '"on", "off" or an array of hosts such as "registry.npmjs.org" or "*.github.com"';
  if (!('value' in hosts) || !hosts.value.every((host) => HOST.test(host))) return { expected };
  return { value: hosts.value.map((host) => host.toLowerCase()) };
}

function readNames(written: unknown): SettingResult<readonly string[]> {
  const expected = 'an array of names';
  if (!Array.isArray(written)) return { expected };
  const value = written.filter((name) => typeof name === 'string');
  return value.length === written.length ? { value } : { expected };
}

function readAgents(written: unknown): SettingResult<readonly string[]> {
  const names = readNames(written);
  if ('value' in names && names.value.every((name) => AGENT.test(name))) return names;
  return { expected: 'an array of names such as "my-agent"' };
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

function readOverrides(written: unknown): SettingResult<Settings['hooks.overrides']> {
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

function readOverride(id: string, written: unknown): SettingResult<HookOverride> {
  if (!isRecord(written)) return { expected: `an object for "${id}"` };
  const value: Record<string, unknown> = {};
  for (const [key, fieldValue] of Object.entries(written)) {
    if (!isOverrideKey(key)) {
      return { expected: `for "${id}" only ${Object.keys(OVERRIDE_KINDS).join(', ')}` };
    }
    const read = OVERRIDE_KINDS[key].read(fieldValue);
    if ('expected' in read) return { expected: `"${key}" of "${id}" to be ${read.expected}` };
    value[key] = read.value;
  }
  return { value };
}

function isOverrideKey(key: string): key is keyof typeof OVERRIDE_KINDS {
  return Object.hasOwn(OVERRIDE_KINDS, key);
}
