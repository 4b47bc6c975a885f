import type { Command } from './context.ts';

/** A flag in commander's words, and what it is for. `choices` limits its values. */
export interface CommandFlag {
  readonly flag: string;
  readonly about: string;
  readonly choices?: readonly string[];
  readonly isRepeatable?: boolean;
}

export interface CommandRow {
  /** Words and arguments: `hooks fire [event]`. An argument's name is the option that the command gets. */
  readonly usage: string;
  /** Other words for the last one. */
  readonly aliases?: readonly string[];
  readonly about: string;
  readonly flags: readonly CommandFlag[];
  /** Loads the command's code, which happens only when it is used. */
  readonly load: () => Promise<Command<object>>;
}

// A row's usage and flags are what gives the command exactly the options that it asks for.
function toCommand<Options extends object>(command: Command<Options>): Command<object> {
  return command as Command<object>;
}

const PLUGIN_YES: CommandFlag = { flag: '--yes', about: 'do not ask' };
const TRUST_YES: CommandFlag = {
  flag: '--yes',
  about: 'trust it without a question: you have read it',
};
const NO_LOAD: CommandFlag = { flag: '--no-load', about: 'load none, and so run nothing of them' };

/** `hookline plugin …` */
const PLUGIN_ROWS: readonly CommandRow[] = [
  {
    usage: 'plugin install <source>',
    aliases: ['i'],
    about:
      'install a plugin for you, or with --cwd DIR for that workspace: a path, @scope/package, npm:package, an address; runs nothing of it',
    flags: [
      { flag: '--npm', about: 'the source is a package of the registry' },
      { flag: '--git', about: 'the source is a repository: host/owner/repo[#ref]' },
      { flag: '--force', about: 'take the place of what is installed already' },
    ],
    load: async () => toCommand((await import('./commands/plugin/install.ts')).install),
  },
  {
    usage: 'plugin uninstall <name>',
    aliases: ['remove', 'rm'],
    about: 'take a plugin away, by its name, its file or its path',
    flags: [PLUGIN_YES],
    load: async () => toCommand((await import('./commands/plugin/uninstall.ts')).uninstall),
  },
  {
    usage: 'plugin list',
    about: 'every plugin: whether it may be loaded, and what it contributes',
    flags: [NO_LOAD],
    load: async () => toCommand((await import('./commands/plugin/list.ts')).listPlugins),
  },
  {
    usage: 'plugin enable <name>',
    about: 'switch a plugin on again',
    flags: [],
    load: async () => toCommand((await import('./commands/plugin/switch.ts')).enablePlugin),
  },
  {
    usage: 'plugin disable <name>',
    about: 'switch a plugin off, without touching its files',
    flags: [],
    load: async () => toCommand((await import('./commands/plugin/switch.ts')).disablePlugin),
  },
  {
    usage: 'plugin update [name]',
    about: 'fetch what the sources of installed plugins have now',
    flags: [{ flag: '--dry-run', about: 'only tell what is new' }],
    load: async () => toCommand((await import('./commands/plugin/update.ts')).update),
  },
  {
    usage: 'plugin validate <plugin>',
    about: 'check a plugin, by its name or path: package, manifest, setup',
    flags: [TRUST_YES],
    load: async () => toCommand((await import('./commands/plugin/validate.ts')).validate),
  },
  {
    usage: 'plugin doctor',
    about: 'check whether plugins can work here',
    flags: [NO_LOAD],
    load: async () => toCommand((await import('./commands/plugin/doctor.ts')).examinePlugins),
  },
  {
    usage: 'plugin demo <file>',
    about: 'run the runDemo() that a plugin’s file exports',
    flags: [TRUST_YES],
    load: async () => toCommand((await import('./commands/plugin/demo.ts')).runPluginDemo),
  },
];

const YES: CommandFlag = { flag: '--yes', about: 'do not ask' };

const EVENT_FLAGS: readonly CommandFlag[] = [
  { flag: '--tool <name>', about: 'the tool, by any of its names' },
  { flag: '--input <json>', about: 'the tool’s input' },
  { flag: '--result <text>', about: 'what the tool answered' },
  { flag: '--success <bool>', about: 'whether the tool succeeded' },
  { flag: '--prompt <text>', about: 'the prompt' },
  { flag: '--source <word>', about: 'how the session opened: startup, resume …' },
  { flag: '--facts <file>', about: 'JSON with any field of the event' },
  { flag: '--payload <file>', about: 'a payload as another agent wrote it (- for stdin)' },
  { flag: '--as <agent>', about: 'whose payload it is', choices: ['cline', 'claude'] },
];

const MCP_SCOPE: CommandFlag = {
  flag: '--scope <scope>',
  about: 'user: your own; project: .mcp.json of this directory',
  choices: ['user', 'project'],
};

const AGENT_FLAGS: readonly CommandFlag[] = [
  {
    flag: '-P, --provider <name>',
    about: 'whose model: anthropic, openai, gemini, openai-compatible, openrouter, ollama',
  },
  { flag: '-m, --model <id>', about: 'which model of that provider' },
  { flag: '--base-url <url>', about: 'where the provider is reached' },
  { flag: '--key <key>', about: 'the provider’s key (default: from the environment)' },
  { flag: '--script <file>', about: 'a scripted model: a JSON array of turns' },
  {
    flag: '--permission-mode <mode>',
    about: 'how much it may do without asking',
    choices: ['default', 'acceptEdits', 'plan', 'bypassPermissions', 'dontAsk'],
  },
  {
    flag: '--allow <rule>',
    about: 'allow such calls: Bash(npm test:*); repeatable',
    isRepeatable: true,
  },
  {
    flag: '--deny <rule>',
    about: 'deny such calls: Read(./secrets/**); repeatable',
    isRepeatable: true,
  },
  { flag: '--resume <id>', about: 'go on with a stored session' },
  { flag: '--continue', about: 'go on with the last session of this directory' },
  { flag: '--max-turns <n>', about: 'how many model requests it may take' },
  {
    flag: '--toolset <name>',
    about: 'under which names the model sees the tools',
    choices: ['claude', 'cline-classic', 'cline-sdk'],
  },
  {
    flag: '--add-dir <dir>',
    about: 'a further directory to work in; repeatable',
    isRepeatable: true,
  },
  {
    flag: '--mcp-config <file-or-json>',
    about: 'further MCP servers; repeatable',
    isRepeatable: true,
  },
  { flag: '--worktree <name>', about: 'work in a copy of the repository, made for it' },
];

const RUN_FLAGS: readonly CommandFlag[] = [
  ...AGENT_FLAGS,
  { flag: '--fork', about: 'go on in a copy of that session' },
  { flag: '--init', about: 'fire Setup first' },
  { flag: '--maintenance', about: 'fire Setup for maintenance first' },
  {
    flag: '--output <form>',
    about: 'text: the answer; json: the result; stream-json: everything as it happens',
    choices: ['text', 'json', 'stream-json'],
  },
];

/** Which session is meant, the editor says. */
const EDITOR_FLAGS = AGENT_FLAGS.filter(
  ({ flag }) => !/^--(?:resume|continue|worktree)\b/.test(flag),
);

/** Every command. Adding one is a file and a row. */
export const COMMANDS: readonly CommandRow[] = [
  {
    usage: 'hooks list',
    about: 'every hook found, and every file ignored, with why',
    flags: [],
    load: async () => (await import('./commands/hooks-list.ts')).listHooks,
  },
  {
    usage: 'hooks fire [event]',
    about: 'dispatch a made-up event to the real hooks',
    flags: EVENT_FLAGS,
    load: async () => (await import('./commands/hooks-fire.ts')).fireHooks,
  },
  {
    usage: 'hooks explain [event]',
    about: 'which hooks would run, which not, and why; runs nothing',
    flags: EVENT_FLAGS,
    load: async () => (await import('./commands/hooks-explain.ts')).explainHooks,
  },
  {
    usage: 'hooks new [event]',
    about: 'write a hook that works at once',
    flags: [
      {
        flag: '--dialect <name>',
        about: 'which kind: cline (a file), claude (a script and an entry) or plugin (a module)',
      },
      {
        flag: '--lang <name>',
        about: 'the language it is written in',
        choices: ['bash', 'python', 'node', 'ts'],
      },
      { flag: '--matcher <text>', about: 'which tools or subjects it is for (claude only)' },
      { flag: '--global', about: 'for all workspaces, in the home directory' },
      { flag: '--force', about: 'replace what is there' },
    ],
    load: async () => toCommand((await import('./commands/hooks-new.ts')).newHook),
  },
  {
    usage: 'hooks import',
    about: 'copy hooks of another agent, with a report of what would differ',
    flags: [
      { flag: '--from <agent>', about: 'whose hooks', choices: ['claude'] },
      { flag: '--to <file>', about: 'where to (default: .cline/hooks.json of the workspace)' },
      { flag: '--global', about: 'your own: ~/.claude/settings.json to ~/.cline/hooks.json' },
      { flag: '--dry-run', about: 'only report' },
      YES,
    ],
    load: async () => toCommand((await import('./commands/hooks-import.ts')).importHooks),
  },
  {
    usage: 'hooks enable <id>',
    about: 'switch a hook on again',
    flags: [],
    load: async () => toCommand((await import('./commands/hooks-switch.ts')).enableHook),
  },
  {
    usage: 'hooks disable <id>',
    about: 'switch a hook off, without touching its file',
    flags: [],
    load: async () => toCommand((await import('./commands/hooks-switch.ts')).disableHook),
  },
  {
    usage: 'hooks rm <id>',
    about: 'delete a hook’s file, or its entry in a settings file, after asking',
    flags: [YES],
    load: async () => toCommand((await import('./commands/hooks-remove.ts')).removeHook),
  },
  {
    usage: 'hooks test [dir]',
    about: 'run case directories against hooks',
    flags: [
      {
        flag: '--record <event>',
        about: 'fire this event and write what came of it as a case into DIR',
      },
      { flag: '--record-trace <id>', about: 'the same with a stored event: an id, or `last`' },
      { flag: '--force', about: 'replace a case that is there' },
      ...EVENT_FLAGS,
    ],
    load: async () => toCommand((await import('./commands/hooks-test.ts')).testHooks),
  },
  {
    usage: 'hooks stats',
    about: 'runs, failures and times per hook',
    flags: [],
    load: async () => (await import('./commands/hooks-stats.ts')).showStats,
  },
  {
    usage: 'trust [ids...]',
    about: 'look at the workspace’s hooks and let them run',
    flags: [YES],
    load: async () => toCommand((await import('./commands/trust.ts')).trustHooks),
  },
  {
    usage: 'untrust [ids...]',
    about: 'let them not run any more',
    flags: [],
    load: async () => toCommand((await import('./commands/trust.ts')).untrustHooks),
  },
  {
    usage: 'lock',
    about: 'write the hashes of the workspace’s hooks, for CI',
    flags: [
      { flag: '--check', about: 'compare instead of writing; exit 1 when something differs' },
      { flag: '--file <file>', about: 'where the lock is (default: hookline.lock.json)' },
    ],
    load: async () => (await import('./commands/lock.ts')).lockHooks,
  },
  {
    usage: 'run [prompt]',
    about: 'one task, without anybody watching; the prompt may come from stdin',
    flags: RUN_FLAGS,
    load: async () => toCommand((await import('./commands/run.ts')).runTask),
  },
  {
    usage: 'chat [prompt]',
    about: 'talk with an agent in the terminal',
    flags: AGENT_FLAGS,
    load: async () => toCommand((await import('./commands/chat.ts')).runChat),
  },
  {
    usage: 'acp',
    about: 'serve an editor: the Agent Client Protocol on stdin and stdout',
    flags: EDITOR_FLAGS,
    load: async () => toCommand((await import('./commands/acp.ts')).runAcp),
  },
  {
    usage: 'mcp list',
    about: 'every MCP server: whether it may start, whether it answers, its tools',
    flags: [],
    load: async () => (await import('./commands/mcp.ts')).listServers,
  },
  {
    usage: 'mcp add <name> [command...]',
    about: 'add an MCP server: a command after `--`, or --url',
    flags: [
      MCP_SCOPE,
      { flag: '--url <url>', about: 'where it is reached, for one that is not started here' },
      { flag: '--env <pair>', about: 'NAME=VALUE for the command; repeatable', isRepeatable: true },
      { flag: '--header <pair>', about: 'NAME:VALUE for the url; repeatable', isRepeatable: true },
    ],
    load: async () => toCommand((await import('./commands/mcp.ts')).addMcpServer),
  },
  {
    usage: 'mcp rm <name>',
    about: 'remove an MCP server',
    flags: [MCP_SCOPE],
    load: async () => toCommand((await import('./commands/mcp.ts')).removeMcpServer),
  },
  ...PLUGIN_ROWS,
  {
    usage: 'sessions list',
    about: 'stored sessions, the one used last first',
    flags: [],
    load: async () => (await import('./commands/sessions.ts')).listSessions,
  },
  {
    usage: 'sessions show <id>',
    about: 'what was said and done in one; the beginning of its id will do',
    flags: [],
    load: async () => toCommand((await import('./commands/sessions.ts')).showSession),
  },
  {
    usage: 'sessions rm <ids...>',
    about: 'delete them, after asking',
    flags: [YES],
    load: async () => toCommand((await import('./commands/sessions.ts')).removeSessions),
  },
  {
    usage: 'doctor',
    about: 'check whether hooks can work here',
    flags: [],
    load: async () => (await import('./commands/doctor.ts')).runDoctor,
  },
  {
    usage: 'demo',
    about: 'an offline tour: real hooks, real tools, a scripted model',
    flags: [],
    load: async () => (await import('./commands/demo/demo.ts')).runDemo,
  },
];
