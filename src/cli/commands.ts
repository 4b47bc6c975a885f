import { DIALECTS, listDialectsWith, PATH_OPTIONS } from '../dialects/index.ts';
import type { PathOption } from '../dialects/options.ts';
import type { HookImport } from '../dialects/import-hooks.ts';
import { EFFECTS } from '../hooks/decision.ts';
import { TOOLSETS } from '../tool-vocabularies/vocabulary.ts';
import type { Command } from './context.ts';

/** A flag in commander's syntax. `choices` limits its values. */
export interface CommandFlag {
  readonly flag: string;
  readonly about: string;
  readonly choices?: readonly string[];
  readonly isRepeatable?: boolean;
}

export interface CommandRow {
  /** Command words and arguments: `hooks fire [event]`. Arguments become options of the same name. */
  readonly usage: string;
  /** Aliases of the last word. */
  readonly aliases?: readonly string[];
  readonly about: string;
  readonly flags: readonly CommandFlag[];
  /** Loads the command's code on first use. */
  readonly load: () => Promise<Command<object>>;
}

// The row's usage and flags produce exactly the options that the command declares.
function toCommand<Options extends object>(command: Command<Options>): Command<object> {
  return command as Command<object>;
}

export const GLOBAL_FLAGS: readonly CommandFlag[] = [
  { flag: '--json', about: 'print JSON' },
  { flag: '--cwd <dir>', about: 'run in this directory' },
  {
    flag: '--root <dir>',
    about: 'a workspace root; repeatable (default: the git root)',
    isRepeatable: true,
  },
  ...PATH_OPTIONS.flatMap(toCommandFlag),
  { flag: '--no-hooks', about: 'do not run hooks' },
  { flag: '--debug', about: 'print the input and output of each hook' },
  { flag: '--raw', about: 'do not redact secrets' },
  { flag: '--strict', about: 'exit 3 when a hook fails, is not trusted, or is misspelt' },
  { flag: '--lock <file>', about: 'trust the hooks in this lock file' },
  { flag: '--lock-sha256 <hash>', about: 'expected SHA-256 of the lock file' },
];

function toCommandFlag({ flag, isRepeatable = false }: PathOption): CommandFlag[] {
  return flag === undefined ? [] : [{ flag: flag.usage, about: flag.about, isRepeatable }];
}

const YES: CommandFlag = { flag: '--yes', about: 'skip the confirmation' };
const TRUST_YES: CommandFlag = {
  flag: '--yes',
  about: 'trust it without asking',
};
const NO_LOAD: CommandFlag = {
  flag: '--no-load',
  about: 'do not load plugins',
};

const EVENT_FILTERS: readonly CommandFlag[] = [
  { flag: '--workspace <dir>', about: 'events of this directory or below it (default: all)' },
  { flag: '--session <id>', about: 'events of this session; the beginning of its id is enough' },
  { flag: '--agent <name>', about: 'events of this agent: claude, cline, codex … or hookline' },
  { flag: '--event <name>', about: 'events of this name' },
  { flag: '--hook <id>', about: 'events that this hook was asked about' },
  { flag: '--effect <effect>', about: 'events with this verdict', choices: EFFECTS },
  { flag: '--failed', about: 'events for which a hook failed' },
  { flag: '--since <time>', about: 'events since then: 2h, 7d, 2026-11-18, 2026-11-18T09:30' },
];
const EVENT_VIEW: CommandFlag = {
  flag: '--as <format>',
  about: 'print a line of JSON for each event, as this program reads them',
  choices: ['agent-monitoring'],
};

/** `hookline trace …` */
const TRACE_ROWS: readonly CommandRow[] = [
  {
    usage: 'trace list',
    about: 'List stored events of all workspaces and agents, the newest last',
    flags: [
      ...EVENT_FILTERS,
      { flag: '--limit <n>', about: 'at most as many of the newest (default: 50)' },
      EVENT_VIEW,
    ],
    load: async () => toCommand((await import('./commands/trace.ts')).listTrace),
  },
  {
    usage: 'trace show <id>',
    about: 'Show an event with its payload (an id prefix is enough; `last`: the newest)',
    flags: [EVENT_VIEW],
    load: async () => toCommand((await import('./commands/trace.ts')).showTrace),
  },
  {
    usage: 'trace export',
    about: 'Print a line of JSON for each event, in the form of CloudEvents',
    flags: [
      ...EVENT_FILTERS,
      { flag: '--limit <n>', about: 'at most as many of the newest (default: all)' },
      EVENT_VIEW,
    ],
    load: async () => toCommand((await import('./commands/trace.ts')).exportTrace),
  },
  {
    usage: 'trace tail',
    about: 'Print the last events, then each new one until Ctrl-C',
    flags: [
      ...EVENT_FILTERS,
      { flag: '--limit <n>', about: 'how many of the last events (default: 10)' },
      EVENT_VIEW,
    ],
    load: async () => toCommand((await import('./commands/trace.ts')).tailTrace),
  },
  {
    usage: 'trace verify',
    about: 'Check that no stored event was changed or is missing; exit 1 when one is',
    flags: [],
    load: async () => (await import('./commands/trace.ts')).verifyTrace,
  },
  {
    usage: 'trace purge',
    about: 'Remove stored events for good',
    flags: [
      { flag: '--session <id>', about: 'those of this session' },
      { flag: '--before <time>', about: 'those before then: 7d, 2026-11-01' },
      { flag: '--all', about: 'all of them' },
      YES,
    ],
    load: async () => toCommand((await import('./commands/trace.ts')).purgeTrace),
  },
];

/** `hookline plugin …` */
const PLUGIN_ROWS: readonly CommandRow[] = [
  {
    usage: 'plugin install <source>',
    aliases: ['i'],
    about:
      'Install a plugin for you, or with --cwd DIR for that workspace: a path, @scope/package, npm:package or URL; runs none of its code',
    flags: [
      { flag: '--npm', about: 'the source is an npm package' },
      { flag: '--git', about: 'the source is a git repository: host/owner/repo[#ref]' },
      { flag: '--force', about: 'replace an installed plugin' },
    ],
    load: async () => toCommand((await import('./commands/plugin/install.ts')).install),
  },
  {
    usage: 'plugin uninstall <name>',
    aliases: ['remove', 'rm'],
    about: 'Uninstall a plugin by name, file or path',
    flags: [YES],
    load: async () => toCommand((await import('./commands/plugin/uninstall.ts')).uninstall),
  },
  {
    usage: 'plugin list',
    about: 'List plugins with their state and contributions',
    flags: [NO_LOAD],
    load: async () => toCommand((await import('./commands/plugin/list.ts')).listPlugins),
  },
  {
    usage: 'plugin enable <name>',
    about: 'Enable a plugin',
    flags: [],
    load: async () => toCommand((await import('./commands/plugin/enable.ts')).enablePlugin),
  },
  {
    usage: 'plugin disable <name>',
    about: 'Disable a plugin without changing its files',
    flags: [],
    load: async () => toCommand((await import('./commands/plugin/enable.ts')).disablePlugin),
  },
  {
    usage: 'plugin update [name]',
    about: 'Update installed plugins from their sources',
    flags: [{ flag: '--dry-run', about: 'only report new versions' }],
    load: async () => toCommand((await import('./commands/plugin/update.ts')).update),
  },
  {
    usage: 'plugin validate <plugin>',
    about: 'Check a plugin by name or path: package, manifest, setup',
    flags: [
      TRUST_YES,
      { flag: '--lenient', about: 'only warn of rules of the manifest that it breaks' },
    ],
    load: async () => toCommand((await import('./commands/plugin/validate.ts')).validate),
  },
  {
    usage: 'plugin doctor',
    about: 'Check whether plugins can work here',
    flags: [NO_LOAD],
    load: async () => toCommand((await import('./commands/plugin/doctor.ts')).examinePlugins),
  },
  {
    usage: 'plugin demo <file>',
    about: 'Run the runDemo() that a plugin file exports',
    flags: [TRUST_YES],
    load: async () => toCommand((await import('./commands/plugin/demo.ts')).runPluginDemo),
  },
];

const AGENT_SCOPE: CommandFlag = {
  flag: '--project',
  about: 'the settings of this project instead of yours',
};
const AS_AGENT_HOOKS: CommandFlag = {
  flag: '--as <package>',
  about: 'exit codes of this package',
  choices: ['agent-hooks'],
};
const ALL_AGENTS: CommandFlag = { flag: '--all', about: 'all agents' };
const DRY_RUN: CommandFlag = { flag: '--dry-run', about: 'print what would change; write nothing' };

/** `hookline agents …`: our entry in the settings of other agents. */
const OTHER_AGENT_ROWS: readonly CommandRow[] = [
  {
    usage: 'agents list',
    about: 'List the agents whose events can be recorded',
    flags: [],
    load: async () => (await import('./commands/agents/list.ts')).listAgents,
  },
  {
    usage: 'agents status [agents...]',
    about: 'Check whether events arrive, and why not; exit 1 when something is broken',
    flags: [AGENT_SCOPE, AS_AGENT_HOOKS],
    load: async () => toCommand((await import('./commands/agents/status.ts')).showAgentStatus),
  },
  {
    usage: 'agents enable [agents...]',
    about: 'Record the events of other agents: adds an entry to their settings',
    flags: [
      ALL_AGENTS,
      AGENT_SCOPE,
      DRY_RUN,
      { flag: '--replace', about: 'replace entries of @principal-ai/agent-hooks' },
      AS_AGENT_HOOKS,
    ],
    load: async () => toCommand((await import('./commands/agents/switch.ts')).enableAgents),
  },
  {
    usage: 'agents disable [agents...]',
    about: 'Remove our entries again, and leave each file as it was found',
    flags: [ALL_AGENTS, AGENT_SCOPE, DRY_RUN, AS_AGENT_HOOKS],
    load: async () => toCommand((await import('./commands/agents/switch.ts')).disableAgents),
  },
  {
    usage: 'agents npx-compat',
    about:
      'Make `npx @principal-ai/agent-hooks` work in this project: adds a development dependency',
    flags: [DRY_RUN, { flag: '--remove', about: 'undo it' }, YES],
    load: async () => toCommand((await import('./commands/agents/npx-compat.ts')).addNpxPackage),
  },
  {
    usage: 'uninstall',
    about: 'Remove our entries from all agents and projects; your own data stays',
    flags: [DRY_RUN],
    load: async () => toCommand((await import('./commands/uninstall.ts')).uninstallHookline),
  },
];

/** `hookline bridge …` */
const BRIDGE_ROWS: readonly CommandRow[] = [
  {
    usage: 'bridge serve',
    about: 'Receive the events of agents on this machine until it is stopped',
    flags: [
      { flag: '--port <n>', about: 'port to listen on (default: 3043, or the next free one)' },
      { flag: '--idle-exit <time>', about: 'stop after so long without a request: 90s, 30m, 2h' },
    ],
    load: async () => toCommand((await import('./commands/bridge.ts')).serveBridge),
  },
  {
    usage: 'bridge status',
    about: 'Show whether the bridge runs, where, and what it received; exit 1 when it does not',
    flags: [],
    load: async () => (await import('./commands/bridge.ts')).showBridge,
  },
  {
    usage: 'bridge stop',
    about: 'Stop the bridge; clients then store events in files',
    flags: [],
    load: async () => (await import('./commands/bridge.ts')).stopBridge,
  },
  {
    usage: 'bridge drain',
    about: 'Take the events that clients stored in files into the event store',
    flags: [],
    load: async () => (await import('./commands/bridge.ts')).drainFiles,
  },
];

/** `hookline session …`, for programs of hooks. */
const SESSION_ROWS: readonly CommandRow[] = [
  {
    usage: 'session send <text>',
    about: 'Add a prompt that runs once the agent has finished',
    flags: [],
    load: async () => toCommand((await import('./commands/session.ts')).sendToSession),
  },
  {
    usage: 'session steer <text>',
    about: 'Send a message to the agent while it works',
    flags: [],
    load: async () => toCommand((await import('./commands/session.ts')).sendSteering),
  },
  {
    usage: 'session abort [reason]',
    about: 'End the run',
    flags: [],
    load: async () => toCommand((await import('./commands/session.ts')).abortSession),
  },
  {
    usage: 'session state',
    about: 'Print model, mode, tokens, and whether the agent works',
    flags: [],
    load: async () => (await import('./commands/session.ts')).showSessionState,
  },
  {
    usage: 'session messages',
    about: 'Print the conversation as JSON',
    flags: [],
    load: async () => (await import('./commands/session.ts')).showSessionMessages,
  },
];

const EVENT_FLAGS: readonly CommandFlag[] = [
  { flag: '--tool <name>', about: 'the tool, by any of its names' },
  { flag: '--input <json>', about: 'the tool’s input' },
  { flag: '--result <text>', about: 'the tool’s output' },
  { flag: '--success <bool>', about: 'whether the tool succeeded' },
  { flag: '--prompt <text>', about: 'the prompt' },
  { flag: '--source <word>', about: 'how the session opened: startup, resume …' },
  { flag: '--facts <file>', about: 'JSON with any field of the event' },
  { flag: '--payload <file>', about: 'a payload in another agent’s format (- for stdin)' },
  {
    flag: '--as <agent>',
    about: 'the agent whose format --payload has',
    get choices() {
      return listDialectsWith('readPayload');
    },
  },
];

/** `cline (a file), claude (a script and an entry) or plugin (a module)` */
function describeTemplates(): string {
  const kinds = DIALECTS.flatMap(({ name, templates }) =>
    templates === undefined ? [] : [`${name} (${templates.about})`],
  );
  return `${kinds.slice(0, -1).join(', ')} or ${kinds.at(-1)}`;
}

function listLanguages(): readonly string[] {
  return [...new Set(DIALECTS.flatMap(({ templates }) => templates?.languages ?? []))];
}

function listWithMatcher(): readonly string[] {
  return DIALECTS.flatMap(({ name, templates }) => (templates?.takesMatcher ? [name] : []));
}

function listImports(): readonly HookImport[] {
  return DIALECTS.flatMap(({ importFrom }) => importFrom ?? []);
}

const MCP_SCOPE: CommandFlag = {
  flag: '--scope <scope>',
  about: 'user: your own; project: .mcp.json of this directory',
  choices: ['user', 'project'],
};

const AGENT_FLAGS: readonly CommandFlag[] = [
  {
    flag: '-P, --provider <name>',
    about: 'model provider: anthropic, openai, gemini, openai-compatible, openrouter, ollama',
  },
  { flag: '-m, --model <id>', about: 'model id' },
  {
    flag: '--effort <level>',
    about: 'how much the model reasons',
    choices: ['low', 'medium', 'high', 'xhigh', 'max'],
  },
  { flag: '--base-url <url>', about: 'address of the provider' },
  { flag: '--key <key>', about: 'API key (default: from the environment)' },
  { flag: '--script <file>', about: 'a scripted model: a JSON array of turns' },
  {
    flag: '--permission-mode <mode>',
    about: 'what the agent may do without asking',
    choices: ['default', 'acceptEdits', 'plan', 'bypassPermissions', 'dontAsk'],
  },
  {
    flag: '--allow <rule>',
    about: 'allow matching calls, such as Bash(npm test:*); repeatable',
    isRepeatable: true,
  },
  {
    flag: '--deny <rule>',
    about: 'deny matching calls, such as Read(./secrets/**); repeatable',
    isRepeatable: true,
  },
  {
    flag: '--sandbox <mode>',
    about: 'run commands in a sandbox: where it works, always, or never',
    choices: ['auto', 'on', 'off'],
  },
  { flag: '-r, --resume [id]', about: 'resume a stored session (default: the last one)' },
  { flag: '-c, --continue', about: 'resume the last session of this directory' },
  { flag: '--max-turns <n>', about: 'maximum number of model requests' },
  {
    flag: '--toolset <name>',
    about: 'tool names that the model sees',
    get choices() {
      return TOOLSETS;
    },
  },
  {
    flag: '--add-dir <dir>',
    about: 'additional working directory; repeatable',
    isRepeatable: true,
  },
  {
    flag: '--mcp-config <file-or-json>',
    about: 'additional MCP servers; repeatable',
    isRepeatable: true,
  },
  { flag: '--worktree <name>', about: 'work in a git worktree of this name' },
];

const OUTPUT_FORMATS = ['text', 'json', 'stream-json'];

export const RUN_FLAGS: readonly CommandFlag[] = [
  ...AGENT_FLAGS,
  { flag: '--fork', about: 'resume in a copy of the session' },
  { flag: '--init', about: 'fire Setup first' },
  { flag: '--maintenance', about: 'fire Setup for maintenance first' },
  {
    flag: '--output <form>',
    about: 'text: the answer; json: the result; stream-json: events as they happen',
    choices: OUTPUT_FORMATS,
  },
  { flag: '--output-format <form>', about: 'the same as --output', choices: OUTPUT_FORMATS },
];

/** The editor selects the session. */
const EDITOR_FLAGS = AGENT_FLAGS.filter(
  ({ flag }) => !/--(?:resume|continue|worktree)\b/.test(flag),
);

/** Every command. Adding one takes a file and a row. */
export const COMMANDS: readonly CommandRow[] = [
  {
    usage: 'hooks list',
    about: 'List hooks and ignored files',
    flags: [],
    load: async () => (await import('./commands/hooks-list.ts')).listHooks,
  },
  {
    usage: 'hooks fire [event]',
    about: 'Dispatch a synthetic event to the real hooks, also those of plugins',
    flags: [...EVENT_FLAGS, NO_LOAD],
    load: async () => (await import('./commands/hooks-fire.ts')).fireHooks,
  },
  {
    usage: 'hooks explain [event]',
    about: 'Show which hooks would run for an event, without running them',
    flags: [...EVENT_FLAGS, NO_LOAD],
    load: async () => (await import('./commands/hooks-explain.ts')).explainHooks,
  },
  {
    usage: 'hooks new [event]',
    about: 'Create a working hook',
    flags: [
      {
        flag: '--dialect <name>',
        get about() {
          return `kind of hook: ${describeTemplates()}`;
        },
      },
      {
        flag: '--lang <name>',
        about: 'language of the hook',
        get choices() {
          return listLanguages();
        },
      },
      {
        flag: '--matcher <text>',
        get about() {
          return `tools or subjects that it matches (${listWithMatcher().join(', ')} only)`;
        },
      },
      { flag: '--global', about: 'for all workspaces, in the home directory' },
      { flag: '--force', about: 'overwrite an existing hook' },
    ],
    load: async () => toCommand((await import('./commands/hooks-new.ts')).writeNewHook),
  },
  {
    usage: 'hooks import',
    about: 'Import hooks of another agent and report differences',
    flags: [
      {
        flag: '--from <agent>',
        about: 'agent whose hooks to import',
        get choices() {
          return listDialectsWith('importFrom');
        },
      },
      {
        flag: '--to <file>',
        get about() {
          const targets = new Set(listImports().map(({ target }) => target));
          return `target file (default: ${[...targets].join(' or ')} of the workspace)`;
        },
      },
      {
        flag: '--global',
        get about() {
          const copies = listImports().map(({ ownFile, target }) => `${ownFile} to ~/${target}`);
          return `import your own hooks: ${copies.join(', ')}`;
        },
      },
      { flag: '--dry-run', about: 'only report; write nothing' },
      YES,
    ],
    load: async () => toCommand((await import('./commands/hooks-import.ts')).importHooks),
  },
  {
    usage: 'hooks enable <id>',
    about: 'Enable a hook',
    flags: [],
    load: async () => toCommand((await import('./commands/hooks-enable.ts')).enableHook),
  },
  {
    usage: 'hooks disable <id>',
    about: 'Disable a hook without changing its file',
    flags: [],
    load: async () => toCommand((await import('./commands/hooks-enable.ts')).disableHook),
  },
  {
    usage: 'hooks rm <id>',
    about: 'Delete a hook’s file or settings entry',
    flags: [YES],
    load: async () => toCommand((await import('./commands/hooks-remove.ts')).removeHook),
  },
  {
    usage: 'hooks test [dir]',
    about: 'Run test cases against hooks',
    flags: [
      {
        flag: '--record <event>',
        about: 'fire this event and record the result as a case in DIR',
      },
      {
        flag: '--record-trace <id>',
        about: 'record a traced event: its id, or `last` of this workspace',
      },
      { flag: '--all', about: 'with --record-trace last: of all workspaces' },
      { flag: '--force', about: 'overwrite an existing case' },
      ...EVENT_FLAGS,
    ],
    load: async () => toCommand((await import('./commands/hooks-test.ts')).testHooks),
  },
  {
    usage: 'hooks stats',
    about: 'Show runs, failures and durations per hook of this workspace',
    flags: [{ flag: '--all', about: 'of all workspaces' }],
    load: async () => toCommand((await import('./commands/hooks-stats.ts')).showStats),
  },
  {
    usage: 'trust [ids...]',
    about: 'Review the workspace’s hooks and trust them',
    flags: [
      YES,
      {
        flag: '--token [token]',
        about:
          'alone, on a terminal: print a token for what is shown; with --yes: trust what TOKEN was printed for',
      },
    ],
    load: async () => toCommand((await import('./commands/trust.ts')).trustHooks),
  },
  {
    usage: 'untrust [ids...]',
    about: 'Revoke trust',
    flags: [],
    load: async () => toCommand((await import('./commands/trust.ts')).untrustHooks),
  },
  {
    usage: 'lock',
    about: 'Write the hashes of the workspace’s hooks, for CI',
    flags: [
      { flag: '--check', about: 'compare instead of writing; exit 1 when something differs' },
      { flag: '--file <file>', about: 'lock file (default: hookline.lock.json)' },
    ],
    load: async () => (await import('./commands/lock.ts')).lockHooks,
  },
  {
    usage: 'run [prompt]',
    about: 'Run a prompt non-interactively: the argument, and what is piped in',
    flags: RUN_FLAGS,
    load: async () => toCommand((await import('./commands/run.ts')).runTask),
  },
  {
    usage: 'chat [prompt]',
    about: 'Chat with an agent in the terminal',
    flags: AGENT_FLAGS,
    load: async () => toCommand((await import('./commands/chat.ts')).runChat),
  },
  {
    usage: 'acp',
    about: 'Serve an editor: Agent Client Protocol on stdin and stdout',
    flags: EDITOR_FLAGS,
    load: async () => toCommand((await import('./commands/acp.ts')).runAcp),
  },
  {
    usage: 'mcp list',
    about: 'List MCP servers with their state and tools',
    flags: [],
    load: async () => (await import('./commands/mcp.ts')).listServers,
  },
  {
    usage: 'mcp add <name> [command...]',
    about: 'Add an MCP server: a command after `--`, or --url',
    flags: [
      MCP_SCOPE,
      { flag: '--url <url>', about: 'URL of a remote server' },
      { flag: '--env <pair>', about: 'NAME=VALUE for the command; repeatable', isRepeatable: true },
      { flag: '--header <pair>', about: 'NAME:VALUE for the url; repeatable', isRepeatable: true },
    ],
    load: async () => toCommand((await import('./commands/mcp.ts')).addMcpServer),
  },
  {
    usage: 'mcp rm <name>',
    aliases: ['remove'],
    about: 'Remove an MCP server',
    flags: [MCP_SCOPE],
    load: async () => toCommand((await import('./commands/mcp.ts')).removeMcpServer),
  },
  ...PLUGIN_ROWS,
  ...OTHER_AGENT_ROWS,
  ...BRIDGE_ROWS,
  ...SESSION_ROWS,
  {
    usage: 'sessions list',
    about: 'List stored sessions, most recent first',
    flags: [],
    load: async () => (await import('./commands/sessions.ts')).listSessions,
  },
  {
    usage: 'sessions show [id]',
    about: 'Show the transcript of a session (an id prefix is enough; default: the last one)',
    flags: [],
    load: async () => toCommand((await import('./commands/sessions.ts')).showSession),
  },
  {
    usage: 'sessions rm <ids...>',
    about: 'Delete sessions',
    flags: [YES],
    load: async () => toCommand((await import('./commands/sessions.ts')).removeSessions),
  },
  ...TRACE_ROWS,
  {
    usage: 'doctor',
    about: 'Check whether hooks can work here',
    flags: [],
    load: async () => (await import('./commands/doctor.ts')).runDoctor,
  },
  {
    usage: 'demo',
    about: 'Run an offline demo: real hooks and tools, a scripted model',
    flags: [],
    load: async () => (await import('./commands/demo.ts')).runDemo,
  },
];
