/** What a folder may import: a folder of src, or an exception that says more. */
export type Grant =
  | string
  | {
      /** A folder or file below src. */
      readonly to: string;
      /** The folder or file below src that alone may do so. */
      readonly from?: string;
      readonly typesOnly?: true;
    };

export interface Layer {
  readonly mayImport: readonly Grant[];
  /** Packages from the registry; absent means any dependency. */
  readonly packages?: readonly string[];
  readonly neverModules?: readonly string[];
}

const BELOW_HOST = [
  'base',
  'hooks',
  'tool-vocabularies',
  'process',
  'callback',
  'trace',
  'store',
  'plugins',
  'mcp',
  'dialects',
  'trust',
  'permissions',
  'sessions',
  'agent',
];

export const LAYERS: Readonly<Record<string, Layer>> = {
  base: {
    mayImport: [],
    packages: [
      'kysely',
      'write-file-atomic',
      'proper-lockfile',
      'jsonc-parser',
      're2js',
      'redos-detector',
      'yaml',
    ],
  },
  'tool-vocabularies': {
    mayImport: ['base'],
    packages: [],
    neverModules: ['node:child_process', 'node:fs', 'node:http', 'node:https', 'node:net'],
  },
  hooks: {
    mayImport: ['base', 'tool-vocabularies'],
    packages: ['re2js'],
    neverModules: ['node:child_process', 'node:fs', 'node:http', 'node:https', 'node:net'],
  },
  process: { mayImport: ['base'], packages: ['cross-spawn'] },
  callback: { mayImport: ['base'], packages: [] },
  trace: { mayImport: ['base', 'hooks', 'tool-vocabularies'], packages: [] },
  bridge: {
    mayImport: [
      'base',
      'store',
      { to: 'dialects/attribute-event.ts' },
      { to: 'dialects/normalize-event.ts' },
      // Who holds a lock or wrote the run file, and whether that process still runs.
      { to: 'process/process-table.ts' },
      { to: 'process/owned-files.ts' },
    ],
    packages: ['ulid'],
  },
  store: {
    mayImport: ['base', 'trace', { to: 'hooks', typesOnly: true }],
    packages: ['kysely', 'libsql', 'proper-lockfile', 'ulid'],
  },
  plugins: {
    mayImport: [
      'base',
      { to: 'hooks', typesOnly: true },
      { to: 'process', from: 'plugins/install' },
      { to: 'process', from: 'plugins/isolation' },
      // Messages and tool names as plugins know them.
      { to: 'tool-vocabularies', from: 'plugins/messages' },
      { to: 'sessions', from: 'plugins/messages' },
    ],
  },
  mcp: {
    mayImport: ['base', 'process'],
    packages: ['@modelcontextprotocol/client', 'jsonc-parser'],
  },
  dialects: {
    mayImport: [
      'base',
      'hooks',
      'tool-vocabularies',
      'process',
      'mcp',
      'permissions',
      // What plugins are, for the dialects whose hooks are functions of plugins.
      { to: 'plugins', typesOnly: true },
      { to: 'sessions/messages.ts', typesOnly: true },
      // What a discovered unit binds.
      { to: 'trust/collect-unit.ts', typesOnly: true },
      { to: 'plugins/find', from: 'dialects/cline-plugins' },
      { to: 'plugins/serialize', from: 'dialects/cline-plugins' },
      { to: 'plugins/messages', from: 'dialects/cline-plugins' },
      { to: 'plugins/plugin-ownership.ts', from: 'dialects/cline-plugins' },
    ],
  },
  // Who holds a claim or a lock, and whether that process still runs.
  trust: {
    mayImport: [
      'base',
      { to: 'process/process-table.ts', from: 'trust/claims.ts' },
      { to: 'process/owned-files.ts', from: 'trust/claims.ts' },
    ],
  },
  permissions: {
    mayImport: [
      'base',
      { to: 'hooks', typesOnly: true },
      { to: 'process/git', typesOnly: true },
      // Which settings of git name programs.
      { to: 'process/git/foreign-programs.ts' },
    ],
    packages: ['ignore', 'unbash'],
  },
  sessions: {
    mayImport: ['base', { to: 'process/owned-files.ts', from: 'sessions/session-locks.ts' }],
  },
  agent: {
    mayImport: [
      'base',
      'hooks',
      'tool-vocabularies',
      'permissions',
      'sessions',
      { to: 'process', from: 'agent/tools' },
    ],
  },
  host: { mayImport: BELOW_HOST },
  // The settings files of other agents.
  agents: {
    mayImport: [
      'base',
      'dialects',
      'process',
      { to: 'hooks/matcher.ts' },
      // The text of the script that entries start, and the run file that it reads.
      { to: 'bridge/forward/shell-form.ts' },
      { to: 'bridge/run-file.ts' },
    ],
    packages: [],
  },
  acp: { mayImport: [...BELOW_HOST, 'host'], packages: ['@agentclientprotocol/sdk'] },
  compat: { mayImport: [...BELOW_HOST, 'host'] },
  testing: { mayImport: [...BELOW_HOST, 'host', 'compat'] },
  cli: { mayImport: [...BELOW_HOST, 'bridge', 'host', 'compat', 'testing', 'acp', 'agents'] },
  'an entry': {
    mayImport: [
      'host',
      'compat',
      'plugins',
      'agent',
      'sessions',
      'hooks',
      'dialects',
      'process',
      'testing',
      'base',
    ],
  },
};

/** The only files that read the environment, the working directory and the time, or exit, and the one that holds plugins from it. */
/**
 * Folders and files whose packages the build writes into what it makes of them, so that nobody has to
 * install those.
 */
export const BUNDLED = [
  'src/acp',
  'src/cli',
  'src/agent/tools/files/structured-patch.ts',
  'src/agent/tools/web/page-reader.ts',
  'src/base/jsonc.ts',
  'src/dialects/codex/read-toml.ts',
  'src/host/plugins/contributions/json-schema.ts',
  'src/plugins/install/parse-source.ts',
];

export const SURROUNDINGS_READERS = [
  'src/host/surroundings.ts',
  'src/base/clock.ts',
  'src/cli/main.ts',
  'src/cli/forward.ts',
  'src/plugin-child.ts',
  'src/host/plugins/process-ports.ts',
];
