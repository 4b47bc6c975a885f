import path from 'node:path';
import { HooklineError } from '../../../base/errors.ts';
import { quoteShellWord } from '../../../base/text.ts';
import type { DialectMachine } from '../../machine.ts';
import { findClineDirectory } from '../../shared-directories.ts';
import {
  createNoHome,
  createUnknownEvent,
  type NewHookOptions,
  type NewHookPlan,
  type WritePlan,
  formatScript,
} from '../../templates.ts';
import { isSameFile, isThere } from '../../write-hook-file.ts';
import { PLUGIN_EXAMPLES, PLUGIN_HOOK_NAMES, type PluginHookName } from './hooks.ts';

/** Plans a plugin in one file, with a tool and a hook. */
export function planPlugin(options: NewHookOptions): WritePlan {
  const hook = resolveHook(options.event);
  const language = resolveLanguage(options.lang);
  if (options.matcher !== undefined) throw createMatcherError();
  const name = options.event === undefined ? 'my-plugin' : `my-${toKebabCase(hook)}`;
  return async (machine) => planFile(name, hook, language, resolvePlace(machine, options.isGlobal));
}

const USUAL: PluginHookName = 'beforeTool';

/** Resolves a hook by its own name or that of its event; a default without a name. */
function resolveHook(name: string | undefined): PluginHookName {
  if (name === undefined) return USUAL;
  const isMatch = (hook: PluginHookName): boolean =>
    [hook, PLUGIN_EXAMPLES[hook].event].some((each) => each?.toLowerCase() === name.toLowerCase());
  const hook = PLUGIN_HOOK_NAMES.find(isMatch);
  if (hook !== undefined) return hook;
  const events = PLUGIN_HOOK_NAMES.flatMap((each) => PLUGIN_EXAMPLES[each].event ?? []);
  const all = `Plugins have: ${PLUGIN_HOOK_NAMES.join(', ')}.`;
  throw createUnknownEvent(name, [...PLUGIN_HOOK_NAMES, ...events], all);
}

type PluginLanguage = 'ts' | 'node';

function resolveLanguage(written = 'ts'): PluginLanguage {
  if (written === 'ts' || written === 'node') return written;
  throw new HooklineError('USAGE_INVALID', {
    message: `--lang should be ts or node for a plugin, found ${JSON.stringify(written)}`,
    hint: 'A plugin is a module of JavaScript or TypeScript; omit --lang for TypeScript.',
  });
}

function createMatcherError(): HooklineError {
  return new HooklineError('USAGE_INVALID', {
    message: 'hooks of plugins have no matcher: each checks its own input',
    hint: 'Omit --matcher, or use --dialect claude.',
  });
}

function planFile(
  name: string,
  hook: PluginHookName,
  language: PluginLanguage,
  { directory, within }: ReturnType<typeof resolvePlace>,
): NewHookPlan {
  const file = path.join(directory, `${name}${language === 'ts' ? '.ts' : '.js'}`);
  const { runs, does } = PLUGIN_EXAMPLES[hook];
  return {
    event: hook,
    example: { runs, does, reads: [], answers: [], trial: { flags: {}, facts: {}, look: null } },
    language,
    file: { path: file, text: renderPluginFile(name, hook, language), mode: 0o644, within },
    existing: isThere(file) ? [file] : [],
    settings: null,
    isNewHook: (unit) => isSameFile(unit.path, file),
    notes: [],
    describeUnseen: ([why]) =>
      `it is not loaded: ${file} ${why ?? 'is not in a directory of plugins'}`,
    tryIt: (pluginFile) => `hookline plugin demo ${quoteShellWord(pluginFile)}`,
  };
}

function toKebabCase(name: string): string {
  return name.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);
}

/** `within` is the workspace that must contain the directory, or null. */
function resolvePlace({ surroundings, workspaceRoots }: DialectMachine, isGlobal: boolean) {
  if (isGlobal) {
    const own = findClineDirectory(surroundings);
    if (own === null) throw createNoHome();
    return { directory: path.join(own, 'plugins'), within: null };
  }
  const [root = surroundings.cwd] = workspaceRoots;
  return { directory: path.join(root, '.cline', 'plugins'), within: root };
}

/** Renders a working plugin in one file: a tool, a hook, and a demo without a network. */
export function renderPluginFile(
  name: string,
  hook: PluginHookName,
  language: PluginLanguage,
): string {
  const { runs, does, hook: body, demo } = PLUGIN_EXAMPLES[hook];
  const turns = [...demo, "{ tools: [{ name: 'say_hello', input: { name: 'Ada' } }] }"];
  const filled = FILE.replaceAll('NAME', () => name)
    .replaceAll('EXTENSION', () => (language === 'ts' ? 'ts' : 'js'))
    .replaceAll('RUNS', () => runs)
    .replaceAll('DOES', () => does)
    .replaceAll('HOOK\n', () => body)
    .replaceAll('TURNS', () => turns.map((turn) => `${turn},`).join(`\n${' '.repeat(10)}`));
  const typed = filled.replaceAll(TYPED, language === 'ts' ? '$1' : '');
  return body.includes('say(') ? typed : typed.replaceAll(SAYING, '');
}

/** The lines that only an example with a `say` function needs. */
const SAYING = /^(?:let| {3}) say = .*\n/gmu;

/** TypeScript-only code is between these marks. */
const TYPED = /<\|(.*?)\|>/gu;

const FILE = formatScript`
// A Cline plugin: it adds a tool; its hook runs RUNS and DOES.
//
//   try it, without a network:       hookline plugin demo .cline/plugins/NAME.EXTENSION
//   in a test of yours:              createPluginTestHost(plugin) of hookline/testing
//   after a change of this file:     hookline trust
import { <|type AgentPlugin, |>ClineCore, createTool } from '@cline/core';

let sessionRoot<|: string | undefined|>;
let say = (text<|: string|>) => console.log(text);

const plugin<|: AgentPlugin|> = {
  name: 'NAME',
  manifest: { capabilities: ['tools', 'hooks'] },
  setup(api, ctx) {
    sessionRoot = ctx.workspaceInfo?.rootPath;
    say = (text) => (ctx.logger ?? console).log(text);
    api.registerTool(
      createTool({
        name: 'say_hello',
        description: 'Greet somebody by name.',
        inputSchema: {
          type: 'object',
          properties: { name: { type: 'string', description: 'Who is greeted.' } },
          required: ['name'],
        },
        async execute({ name }<|: { name: string }|>) {
          return { greeting: \`Hello, \${name}!\`, root: sessionRoot };
        },
      }),
    );
  },
  hooks: {
HOOK
  },
};

/** A run of a scripted model: its turns are in \`script\`. */
export async function runDemo()<|: Promise<void>|> {
  const host = await ClineCore.create({ backendMode: 'local' });
  try {
    const { result } = await host.start({
      config: {
        providerId: 'scripted',
        modelId: 'demo',
        script: [
          TURNS
          { text: 'Done.' },
        ],
        systemPrompt: 'You are a helpful assistant.',
        cwd: process.cwd(),
        extensions: [plugin],
      },
      prompt: 'Greet Ada.',
      interactive: false,
    });
    for (const { name, error, output } of result?.toolCalls ?? []) {
      console.log(\`\${name}: \${error ?? JSON.stringify(output)}\`);
    }
    console.log(result?.text ?? '');
  } finally {
    await host.dispose();
  }
}

export default plugin;
`;
