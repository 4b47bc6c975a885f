import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Model, ModelRequest } from '../../../agent/models/model.ts';
import { createScriptedModel, type ScriptTurn } from '../../../agent/models/scripted.ts';

/** The demo's plugin, as an author would write it for Cline. */
const PLUGIN = `import { type AgentPlugin, createTool } from "@cline/core"

let branch: string | undefined
let hasTold = false

const plugin: AgentPlugin = {
  name: "team",
  manifest: { capabilities: ["tools", "hooks", "messageBuilders"] },
  setup(api, ctx) {
    branch = ctx.workspaceInfo?.latestGitBranchName
    api.registerTool(
      createTool({
        name: "count_words",
        description: "Count the words of a text.",
        inputSchema: {
          type: "object",
          properties: { text: { type: "string" } },
          required: ["text"],
        },
        async execute({ text }: { text: string }) {
          return { words: text.split(/\\s+/).filter(Boolean).length }
        },
      }),
    )
    api.registerMessageBuilder({
      name: "without-customers",
      build(messages) {
        const before = JSON.stringify(messages)
        const after = before.replace(/ACME-\\d+/g, "[a customer]")
        if (after !== before && !hasTold) console.log("without-customers: a customer's number stays here")
        hasTold = true
        return JSON.parse(after)
      },
    })
  },
  hooks: {
    beforeTool({ toolCall, input }) {
      if (toolCall.toolName !== "run_commands" || branch !== "main") return undefined
      const { commands = [] } = input as { commands?: string[] }
      const isPush = commands.some((command) => command.startsWith("git push"))
      return isPush ? { skip: true, reason: "Nobody pushes to main from here" } : undefined
    },
  },
}

export default plugin
`;

const SETTINGS = {
  hooks: {
    PreToolUse: [{ matcher: 'Bash', hooks: [createNodeHook('no-force.js')] }],
    PostToolUse: [{ matcher: 'Write|Edit', hooks: [createNodeHook('format.js')] }],
    Stop: [{ hooks: [createNodeHook('was-it-checked.js')] }],
  },
};

function createNodeHook(file: string) {
  const args = [`\${CLAUDE_PROJECT_DIR}/.claude/hooks/${file}`];
  return { type: 'command', command: 'node', args };
}

const FILES: Readonly<Record<string, string>> = {
  'workspace/.git/HEAD': 'ref: refs/heads/main\n',
  'workspace/check.js': 'console.log("the check passes");\n',
  'workspace/.cline/plugins/team.ts': PLUGIN,
  'workspace/.clinerules/hooks/PreToolUse': createHookScript(`
  const { toolName, parameters } = input.preToolUse;
  const isScript = toolName === 'write_to_file' && parameters.path.endsWith('.js');
  return isScript
    ? { cancel: true, errorMessage: 'This project is written in TypeScript', contextModification: 'Use .ts files only.' }
    : { cancel: false };`),
  'workspace/.claude/settings.json': `${JSON.stringify(SETTINGS, null, 2)}\n`,
  'workspace/.claude/hooks/no-force.js': createHookScript(`
  const isForced = input.tool_input.command.includes('--force');
  return isForced ? { decision: 'block', reason: 'A push by force rewrites what others have' } : {};`),
  'workspace/.claude/hooks/format.js': createHookScript(`
  const { readFileSync, writeFileSync } = require('node:fs');
  const file = input.tool_input.file_path;
  const lines = readFileSync(file, 'utf8').split('\\n').map((line) => line.trim()).filter(Boolean);
  writeFileSync(file, lines.map((line) => (line.endsWith(';') ? line : line + ';') + '\\n').join(''));
  return { systemMessage: 'formatted ' + require('node:path').basename(file) };`),
  'workspace/.claude/hooks/was-it-checked.js': createHookScript(`
  const said = require('node:fs').readFileSync(input.transcript_path, 'utf8');
  return said.includes('the check passes') ? {} : { decision: 'block', reason: 'Run node check.js before you stop' };`),
};

/** Written for Node, the one interpreter that is certainly present. */
function createHookScript(body: string): string {
  return `#!/usr/bin/env node
function decide(input) {${body}
}
let text = '';
process.stdin.on('data', (chunk) => (text += chunk));
process.stdin.on('end', () => console.log(JSON.stringify(decide(JSON.parse(text)))));
`;
}

/** Writes a workspace with hooks of all three kinds, and an empty home directory. */
export function writeDemoWorkspace(place: string): void {
  mkdirSync(path.join(place, 'home'));
  for (const [name, text] of Object.entries(FILES)) {
    const file = path.join(place, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, 0o755);
  }
}

export const PROMPT = 'Write the answer for ACME-4711, and push it';
/** The text that the plugin hides from the model. */
export const CUSTOMER = 'ACME-4711';

const TURNS: readonly ScriptTurn[] = [
  {
    text: 'I write the answer.',
    tools: [{ name: 'Write', input: { file_path: 'app.js', content: 'module.exports = 42;\n' } }],
  },
  {
    text: 'TypeScript, then.',
    tools: [{ name: 'Write', input: { file_path: 'app.ts', content: '  export default 42' } }],
  },
  { tools: [{ name: 'Bash', input: { command: 'git push --force' } }] },
  { tools: [{ name: 'count_words', input: { text: 'app.ts holds the answer' } }] },
  { text: 'app.ts holds the answer. Pushing is left to you.' },
  { text: 'I check it.', tools: [{ name: 'Bash', input: { command: 'node check.js' } }] },
  { text: 'app.ts holds the answer, and the check passes. Pushing is left to you.' },
];

/** A scripted model and the requests it received. */
export function createRecordingModel(): {
  readonly model: Model;
  readonly requests: readonly ModelRequest[];
} {
  const requests: ModelRequest[] = [];
  const script = createScriptedModel(TURNS);
  return {
    requests,
    model: {
      ...script,
      stream(request, signal) {
        requests.push(request);
        return script.stream(request, signal);
      },
    },
  };
}
