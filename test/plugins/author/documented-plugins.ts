import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

const FIXTURES = path.resolve(import.meta.dirname, '../../fixtures/cline-plugin-docs');

/** A block of Cline's plugin documentation, verbatim. */
export function sample(name: string): string {
  return readFileSync(path.join(FIXTURES, `${name}.txt`), 'utf8');
}

const TYPES = 'import type { AgentPlugin } from "@cline/core"\n';
const END = 'export default plugin\n';

function pluginOf(fields: string, before = ''): string {
  return `${TYPES}${before}const plugin: AgentPlugin = {\nname: "sample",\n${fields}}\n${END}`;
}

function hooksOf(hooks: string): string {
  return `manifest: { capabilities: ["hooks"] },\nhooks: {\n${hooks}},\n`;
}

function setupOf(capabilities: string, body: string): string {
  return `manifest: { capabilities: ${capabilities} },\nsetup(api, ctx) {\n${body}},\n`;
}

/** Most blocks are parts of a module; here each stands in one, unchanged. */
export const MODULES = {
  'smallest-plugin.ts': () => sample('smallest-plugin'),
  'single-file-template.ts': () => sample('single-file-template'),
  'state-across-hooks.ts': () => `${TYPES}${sample('state-across-hooks')}${END}`,
  'state-by-session.ts': () => {
    const [state = '', ...setup] = sample('state-by-session').split('\n');
    const before = `type MyState = void\nexport ${state}\n`;
    const fields = `manifest: { capabilities: ["tools"] },\n${setup.join('\n')},\n`;
    return pluginOf(fields, before);
  },
  'metrics.ts': () => `${TYPES}${sample('metrics')}${END}`,
  'branch-guard.ts': () =>
    pluginOf(
      `setup(api, ctx) {\nsessionBranch = ctx.workspaceInfo?.latestGitBranchName\n},\n${hooksOf(sample('branch-guard'))}`,
      'let sessionBranch: string | undefined\n',
    ),
  'after-run.ts': () => pluginOf(hooksOf(sample('after-run'))),
  'message-builder.ts': () =>
    pluginOf(
      setupOf('["messageBuilders"]', sample('message-builder')),
      `import type { Message } from "@cline/core"
const THRESHOLD = 100
const prefix: Message[] = [{ role: "user", content: "prefix" }]
const summary: Message = { role: "assistant", content: "summary" }
const recent: Message[] = [{ role: "user", content: "recent" }]
const estimateTokens = (messages: Message[]) => JSON.stringify(messages).length / 4
`,
    ),
  'automation-event.ts': () => pluginOf(`${sample('automation-event').trimEnd()},\n`),
  'register-calls.ts': () =>
    pluginOf(
      setupOf('["tools"]', sample('register-calls')),
      `import type { AgentTool, Message } from "@cline/core"
declare const tool: AgentTool
declare const name: string, description: string, id: string, content: string, source: string, eventType: string
declare const handler: (input: string) => string
declare const build: (messages: Message[]) => Message[]
`,
    ),
  'context-fields.ts': () => pluginOf(setupOf('["tools"]', sample('context-fields'))),
  'manifest.ts': () =>
    `import type { PluginManifest } from "@cline/core"\ninterface Sample {\n${sample('manifest')}}\nexport const fits = (sample: Sample["manifest"]): PluginManifest => sample\n`,
  'plugin-paths.ts': () =>
    `import type { CoreSessionConfig } from "@cline/core"\nexport const input: { config: Partial<CoreSessionConfig> } = {\n${sample('plugin-paths')}}\n`,
  'bundled-assets.ts': () =>
    `${sample('bundled-assets')}${pluginOf(
      setupOf(
        '["tools"]',
        'api.registerTool({ name: "template", description: "", inputSchema: {}, execute: () => loadTemplate("greeting") })\n',
      ),
    )}`,
} as const satisfies Record<string, () => string>;

/** A directory of its own, with these files in it. */
export function directoryWith(files: Readonly<Record<string, string>>): string {
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'hookline-seed-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(directory, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return directory;
}
