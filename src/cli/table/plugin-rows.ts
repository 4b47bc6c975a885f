import { type CommandRow, type Flag, typed } from './command-row.ts';

const YES: Flag = { flag: '--yes', about: 'do not ask' };
const READ: Flag = { flag: '--yes', about: 'trust it without a question: you have read it' };
const NO_LOAD: Flag = { flag: '--no-load', about: 'load none, and so run nothing of them' };

/** `hookline plugin …` */
export const PLUGIN_ROWS: readonly CommandRow[] = [
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
    load: async () => typed((await import('../commands/plugin/install.ts')).install),
  },
  {
    usage: 'plugin uninstall <name>',
    aliases: ['remove', 'rm'],
    about: 'take a plugin away, by its name, its file or its path',
    flags: [YES],
    load: async () => typed((await import('../commands/plugin/uninstall.ts')).uninstall),
  },
  {
    usage: 'plugin list',
    about: 'every plugin: whether it may be loaded, and what it contributes',
    flags: [NO_LOAD],
    load: async () => typed((await import('../commands/plugin/list.ts')).listPlugins),
  },
  {
    usage: 'plugin enable <name>',
    about: 'switch a plugin on again',
    flags: [],
    load: async () => typed((await import('../commands/plugin/switch.ts')).enablePlugin),
  },
  {
    usage: 'plugin disable <name>',
    about: 'switch a plugin off, without touching its files',
    flags: [],
    load: async () => typed((await import('../commands/plugin/switch.ts')).disablePlugin),
  },
  {
    usage: 'plugin update [name]',
    about: 'fetch what the sources of installed plugins have now',
    flags: [{ flag: '--dry-run', about: 'only tell what is new' }],
    load: async () => typed((await import('../commands/plugin/update.ts')).update),
  },
  {
    usage: 'plugin validate <plugin>',
    about: 'check a plugin, by its name or path: package, manifest, setup',
    flags: [READ],
    load: async () => typed((await import('../commands/plugin/validate.ts')).validate),
  },
  {
    usage: 'plugin doctor',
    about: 'check whether plugins can work here',
    flags: [NO_LOAD],
    load: async () => typed((await import('../commands/plugin/doctor.ts')).examinePlugins),
  },
  {
    usage: 'plugin demo <file>',
    about: 'run the runDemo() that a plugin’s file exports',
    flags: [READ],
    load: async () => typed((await import('../commands/plugin/demo.ts')).runPluginDemo),
  },
];
