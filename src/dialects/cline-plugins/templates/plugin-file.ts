import { formatScript } from '../../templates.ts';
import { PLUGIN_EXAMPLES, type PluginHookName } from './hooks.ts';

export interface PluginFile {
  readonly name: string;
  readonly hook: PluginHookName;
  readonly language: 'ts' | 'node';
}

/** Renders a working plugin in one file: a tool, a hook, and a demo without a network. */
export function renderPluginFile({ name, hook, language }: PluginFile): string {
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

/** TypeScript-only code stands between these marks. */
const TYPED = /<\|(.*?)\|>/gu;

const FILE = formatScript`
// A Cline plugin: it brings a tool, and runs RUNS: it DOES.
//
//   see it work, without a network:  hookline plugin demo .cline/plugins/NAME.EXTENSION
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
        description: 'Greet a person by name.',
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

/** A run in which the model says what stands in \`script\`. */
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
