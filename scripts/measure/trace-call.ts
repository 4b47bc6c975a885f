import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { SourceFile } from '../source-files.ts';
import { instrument } from './instrument.ts';

export interface TracedCall {
  readonly id: string;
  /** The index of the call in which it was made; -1 for none. */
  readonly caller: number;
  readonly parametersHold: readonly boolean[];
  readonly resultHolds: boolean;
}

export interface Milestone {
  readonly what: string;
  /** The call in which it happened. */
  readonly call: number;
  /** How many calls had been made by then. */
  readonly at: number;
}

export interface Trace {
  readonly calls: readonly TracedCall[];
  readonly milestones: readonly Milestone[];
  /** The objects that were made around the plugin. */
  readonly wrappers: readonly string[];
}

const HOOK = `process.stdout.write(JSON.stringify({
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow', permissionDecisionReason: 'answer-marker' },
}));
`;
const SETTINGS = {
  hooks: {
    PreToolUse: [
      {
        matcher: 'Ba.h',
        hooks: [{ type: 'command', command: 'node "$CLAUDE_PROJECT_DIR"/.claude/traced-hook.mjs' }],
      },
    ],
  },
};
const PLUGIN = `const beforeTool = () => undefined;
if (globalThis.__tracedPlugin) globalThis.__tracedPlugin.hook ??= beforeTool;
export default { name: 'traced', manifest: { capabilities: ['hooks'] }, hooks: { beforeTool } };
`;

const WITH_HOOK = {
  '.claude/settings.json': JSON.stringify(SETTINGS),
  '.claude/traced-hook.mjs': HOOK,
};
const WITH_PLUGIN = { '.cline/plugins/traced.mjs': PLUGIN };
const TURNS = [
  { tools: [{ name: 'Bash', input: { command: 'echo call-marker', description: 'marks' } }] },
  { text: 'done' },
];

/** Runs one tool call of a scripted model in an instrumented copy: with one program hook, and with one plugin. */
export function traceToolCalls(
  root: string,
  sources: readonly SourceFile[],
): { hook: Trace; plugin: Trace } {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'hookline-measure-'));
  try {
    const tree = path.join(directory, 'tree');
    cpSync(path.join(root, 'src'), path.join(tree, 'src'), { recursive: true });
    for (const source of sources) writeFileSync(path.join(tree, source.path), instrument(source));
    cpSync(path.join(root, 'package.json'), path.join(tree, 'package.json'));
    symlinkSync(path.join(root, 'node_modules'), path.join(tree, 'node_modules'));
    return {
      hook: traceIn(path.join(directory, 'with-hook'), tree, WITH_HOOK),
      plugin: traceIn(path.join(directory, 'with-plugin'), tree, WITH_PLUGIN),
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function traceIn(place: string, tree: string, files: Readonly<Record<string, string>>): Trace {
  const workspace = path.join(place, 'workspace');
  mkdirSync(path.join(place, 'home'), { recursive: true });
  mkdirSync(path.join(workspace, '.git'), { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(workspace, name)), { recursive: true });
    writeFileSync(path.join(workspace, name), text);
  }
  const script = path.join(place, 'turns.json');
  const traceFile = path.join(place, 'trace.json');
  writeFileSync(script, JSON.stringify(TURNS));
  const jiti = path.join(tree, 'node_modules/jiti/lib/jiti-register.mjs');
  const tracer = path.join(import.meta.dirname, 'tracer.ts');
  const program = ['--import', jiti, '--import', tracer, path.join(tree, 'src/cli/main.ts')];
  for (const words of [
    ['trust', '--yes'],
    ['run', '--script', script, '--allow', 'Bash', 'go'],
  ]) {
    const { status, stderr } = spawnSync(process.execPath, [...program, ...words], {
      cwd: workspace,
      encoding: 'utf8',
      env: {
        PATH: process.env['PATH'],
        HOME: path.join(place, 'home'),
        JITI_FS_CACHE: 'false',
        HOOKLINE_TRACE_FILE: traceFile,
      },
    });
    if (status !== 0) throw new Error(`hookline ${words[0]} ended with ${status}: ${stderr}`);
  }
  const trace: Trace = JSON.parse(readFileSync(traceFile, 'utf8'));
  return trace;
}
