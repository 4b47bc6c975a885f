import {
  mkdtempSync,
  readFileSync,
  rmSync,
  existsSync,
  chmodSync,
  mkdirSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RuntimeEvent, RunResult } from '../../agent/runtime-event.ts';
import { systemClock } from '../../base/clock.ts';
import { readSurroundings } from '../../host/surroundings.ts';
import { findDialect } from '../../dialects/index.ts';
import { createHost, type Host, type HostOptions } from '../../host/create-host.ts';
import { toTrustUnit } from '../../host/hook-set.ts';
import { bindUnit } from '../../trust/bind-unit.ts';
import { grantTrust } from '../../trust/trust-record.ts';
import { type Command, createPluginOptions } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { colors } from '../output/colors.ts';
import { toOneLine, formatCount, formatDuration } from '../output/print.ts';
import { requireTrustFiles } from './trust.ts';
import { isRecord } from '../../base/json.ts';
import { type Outcome, isRefusal } from '../../hooks/decision.ts';
import type { ModelRequest, Model } from '../../agent/models/model.ts';
import type { PluginStatus } from '../../plugins/registry.ts';
import { createScriptedModel, type ScriptTurn } from '../../agent/models/scripted.ts';

/**
 * `hookline demo`: one run with hooks of all three kinds in a temporary workspace; only the model is
 * scripted.
 */
export const runDemo: Command<object> = async ({ print, flags, signal }) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'hookline-demo-'));
  const printText = (text: string): void => (flags.json === true ? undefined : print.out(text));
  try {
    writeDemoWorkspace(directory);
    printText(
      `A workspace with a Cline file hook, three Claude hooks and a Cline plugin, in ${directory}`,
    );
    const waiting = await trustAll(directory, printText);
    const finished = await runDemoTask(directory, printText, signal);
    const claims = [
      { claim: 'no hook of the workspace was ready before it was trusted', holds: waiting === 5 },
      ...CLAIMS.map(({ claim, holds }) => ({ claim, holds: holds(finished) })),
    ];
    if (flags.json === true) print.json({ claims });
    printText('');
    for (const each of claims) printText(formatClaim(each));
    const broken = claims.filter(({ holds }) => !holds).length;
    printText(
      broken === 0
        ? `\nAll ${formatCount(claims.length, 'check')} passed.`
        : `\n${formatCount(broken, 'check')} failed.`,
    );
    return broken === 0 ? EXIT.fine : EXIT.refused;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};

function formatClaim({ claim, holds }: { claim: string; holds: boolean }): string {
  return `${holds ? colors.green('→') : colors.red('✗ failed:')} ${claim}`;
}

/** The user's own configuration, hooks and trust are not used. */
function openDemoHost(directory: string, options: HostOptions = {}): Promise<Host> {
  const surroundings = readSurroundings();
  const home = path.join(directory, 'home');
  const cwd = path.join(directory, 'workspace');
  const env = { PATH: surroundings.env['PATH'], HOME: home, USER: 'demo' };
  return createHost({
    cwd,
    roots: [cwd],
    surroundings: { ...surroundings, cwd, home, env },
    ...options,
  });
}

/** Lists what would not run and trusts it as `hookline trust` does; returns how many hooks waited. */
async function trustAll(directory: string, printText: (text: string) => void): Promise<number> {
  const host = await openDemoHost(directory);
  const waiting = host.hooks().filter(({ state }) => state === 'untrusted');
  for (const { hook, why } of waiting) printText(colors.dim(`  ${hook.id}: ${why}`));
  printText(`\n${colors.bold('$ hookline trust --yes')}\n`);
  const bindings = waiting.map(({ hook }) => bindUnit(toTrustUnit(hook)));
  await grantTrust(requireTrustFiles(host), bindings, {
    now: systemClock.now(),
    guardedRoots: host.trust.guardedRoots,
  });
  await host.dispose();
  return waiting.length;
}

async function runDemoTask(
  directory: string,
  printText: (text: string) => void,
  signal: AbortSignal,
): Promise<DemoResult> {
  const { model, requests } = createRecordingModel();
  const host = await openDemoHost(directory, {
    model,
    permissionMode: 'acceptEdits',
    allow: ['Bash(node check.js)', 'count_words'],
    onNotice: (text) => printText(colors.yellow(`note    ${toOneLine(text)}`)),
    plugins: {
      ...createPluginOptions({}),
      onConsole: (text) => printText(`${colors.cyan('plugin')}  ${toOneLine(text)}`),
    },
  });
  const events: RuntimeEvent[] = [];
  host.subscribe((event) => {
    events.push(event);
    for (const line of formatTimeline(event, host.startDirectory)) printText(line);
  });
  const { sessionId, result, transcriptPath } = await host.start({ prompt: PROMPT, signal });
  const plugins = host.plugins(sessionId)?.list() ?? [];
  await host.dispose();
  const transcript = transcriptPath === null ? '' : readFileSync(transcriptPath, 'utf8');
  return {
    result,
    events,
    requests,
    plugins,
    transcript,
    workspace: path.join(directory, 'workspace'),
  };
}

/** One line per event: who, what, how long, and what changed. */
function formatTimeline(event: RuntimeEvent, workspace: string): readonly string[] {
  switch (event.type) {
    case 'run-start':
      if (event.parentAgentId !== null) return [];
      return [`${colors.bold('user')}    ${toOneLine(event.prompt)}`];
    case 'message-end':
      return event.shown === '' ? [] : [`${colors.bold('agent')}   ${toOneLine(event.shown)}`];
    case 'tool-end':
      return [formatCallLine(event), ...formatChangeLines(event, workspace)];
    case 'hook':
      return event.verdict.outcomes.map((outcome) => formatHookLine(event.verdict.event, outcome));
    default:
      return [];
  }
}

type ToolEnd = Extract<RuntimeEvent, { type: 'tool-end' }>;

function formatCallLine({ tool, input, output, deniedBy, durationMs }: ToolEnd): string {
  const call = `${tool} ${toOneLine(formatSubject(input))}`;
  if (deniedBy !== null) return `${colors.red('✗ tool')}  ${call}: never ran`;
  const text = tool === 'Write' ? '' : `: ${toOneLine(output.text)}`;
  return `${colors.green('✓ tool')}  ${call}${text} ${formatElapsed(durationMs)}`;
}

/** A hook that ran after the write may have changed the file. */
function formatChangeLines({ input, deniedBy }: ToolEnd, workspace: string): readonly string[] {
  if (deniedBy !== null || !isRecord(input)) return [];
  const { file_path: file, content } = input;
  if (typeof file !== 'string' || typeof content !== 'string') return [];
  const now = readFileSync(path.resolve(workspace, file), 'utf8');
  if (now === content) return [];
  const [before, after] = [content, now].map((text) => JSON.stringify(text));
  return [`${colors.yellow('  file')}  ${path.basename(file)}: ${before} became ${after}`];
}

function formatSubject(input: unknown): string {
  if (!isRecord(input)) return '';
  const { file_path: file, command, text } = input;
  if (typeof file === 'string') return path.basename(file);
  return typeof command === 'string' ? command : JSON.stringify(text ?? input);
}

function formatHookLine(event: string, outcome: Outcome): string {
  const who = `${findDialect(outcome.dialect)?.label ?? outcome.dialect}, ${event}`;
  return `${colors.cyan('  hook')}  ${who}: ${formatOutcome(outcome)} ${formatElapsed(outcome.durationMs)}`;
}

function formatOutcome({ decision, failure }: Outcome): string {
  if (failure !== null) return colors.red(`failed: ${toOneLine(failure.message)}`);
  const { effect = 'pass', reason, context, notice } = decision ?? {};
  const text = [reason, notice, context].filter((text) => text !== undefined).map(toOneLine);
  const word = effect === 'pass' ? colors.dim(effect) : colors.red(effect);
  return text.length === 0 ? word : `${word}: ${text.join('; ')}`;
}

function formatElapsed(ms: number): string {
  return colors.dim(`(${formatDuration(ms)})`);
}

/** The results of the demo run. */
interface DemoResult {
  readonly result: RunResult | null;
  readonly events: readonly RuntimeEvent[];
  readonly requests: readonly ModelRequest[];
  readonly plugins: readonly PluginStatus[];
  readonly transcript: string;
  readonly workspace: string;
}

/** The demo fails unless every claim holds. */
const CLAIMS: readonly {
  readonly claim: string;
  readonly holds: (finished: DemoResult) => boolean;
}[] = [
  {
    claim: 'the Cline file hook blocked app.js, and the model got the reason',
    holds: ({ workspace, requests }) =>
      !existsSync(path.join(workspace, 'app.js')) &&
      isSent(requests, 'This project is written in TypeScript'),
  },
  {
    claim: 'the Claude formatter changed app.ts on the disk after the agent wrote it',
    holds: ({ workspace }) =>
      readFileSync(path.join(workspace, 'app.ts'), 'utf8') === 'export default 42;\n',
  },
  {
    claim: 'the push was refused once, with the reasons of the Claude guard and of the plugin',
    holds: ({ events }) => events.some(isRefusedByBoth),
  },
  {
    claim: 'the plugin’s tool ran, and the model got its answer',
    holds: ({ requests }) => isSent(requests, '{\\"words\\":4}'),
  },
  {
    claim: 'the plugin’s message builder hid the customer’s number from the model, not from you',
    holds: ({ requests, transcript }) =>
      requests.length > 0 && !isSent(requests, CUSTOMER) && transcript.includes(CUSTOMER),
  },
  {
    claim: 'the Stop hook sent the agent back once, and it ran the check',
    holds: ({ events, requests }) =>
      events.filter(isSentBack).length === 1 && isSent(requests, 'the check passes'),
  },
  {
    claim: 'the plugin was loaded unchanged, without problems',
    holds: ({ plugins }) => plugins.length === 1 && plugins[0]?.state === 'ready',
  },
  {
    claim: 'the agent finished, and its session can be resumed',
    holds: ({ result, transcript }) =>
      result?.ending === 'done' && transcript.includes('and the check passes'),
  },
];

function isSent(requests: readonly ModelRequest[], text: string): boolean {
  return requests.some(({ messages }) => JSON.stringify(messages).includes(text));
}

const GUARD_REASON = 'A forced push rewrites history that others have';
const PLUGIN_REASON = 'Pushing to main is not allowed here';

function isRefusedByBoth(event: RuntimeEvent): boolean {
  if (event.type !== 'hook' || !isRefusal(event.verdict.effect)) return false;
  const reasons = event.verdict.reasons.map(({ text }) => text);
  return reasons.includes(GUARD_REASON) && reasons.includes(PLUGIN_REASON);
}

function isSentBack(event: RuntimeEvent): boolean {
  return event.type === 'hook' && event.verdict.event === 'Stop' && isRefusal(event.verdict.effect);
}

/** The demo's plugin, as an author would write it for Cline. */
const PLUGIN = `import { type AgentPlugin, createTool } from "@cline/core"

let branch: string | undefined
let hasReported = false

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
        if (after !== before && !hasReported) console.log("without-customers: a customer's number stays here")
        hasReported = true
        return JSON.parse(after)
      },
    })
  },
  hooks: {
    beforeTool({ toolCall, input }) {
      if (toolCall.toolName !== "run_commands" || branch !== "main") return undefined
      const { commands = [] } = input as { commands?: string[] }
      const isPush = commands.some((command) => command.startsWith("git push"))
      return isPush ? { skip: true, reason: "${PLUGIN_REASON}" } : undefined
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
  return isForced ? { decision: 'block', reason: '${GUARD_REASON}' } : {};`),
  'workspace/.claude/hooks/format.js': createHookScript(`
  const { readFileSync, writeFileSync } = require('node:fs');
  const file = input.tool_input.file_path;
  const lines = readFileSync(file, 'utf8').split('\\n').map((line) => line.trim()).filter(Boolean);
  writeFileSync(file, lines.map((line) => (line.endsWith(';') ? line : line + ';') + '\\n').join(''));
  return { systemMessage: 'formatted ' + require('node:path').basename(file) };`),
  'workspace/.claude/hooks/was-it-checked.js': createHookScript(`
  const transcript = require('node:fs').readFileSync(input.transcript_path, 'utf8');
  return transcript.includes('the check passes') ? {} : { decision: 'block', reason: 'Run node check.js before you stop' };`),
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
