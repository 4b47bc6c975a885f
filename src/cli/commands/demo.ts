import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { colors } from '../words/colors.ts';
import { systemClock } from '../../base/clock.ts';
import { createHost, type Host } from '../../host/create-host.ts';
import { readSurroundings } from '../../host/config.ts';
import { trustUnit } from '../../host/hook-set.ts';
import { awaitsTrust, type Verdict } from '../../hooks/decision.ts';
import type { FiredEvent } from '../../hooks/facts.ts';
import { bindUnit } from '../../trust/bytes.ts';
import { trustUnits } from '../../trust/record.ts';
import type { Command } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { plural } from '../words/print.ts';
import { jsonVerdict, readableVerdict } from '../words/verdict.ts';
import { recordFile } from './trust.ts';

interface Step {
  readonly title: string;
  readonly event: FiredEvent;
  /** What must have happened, in words, and whether it did. */
  readonly expects: readonly {
    readonly claim: string;
    readonly holds: (verdict: Verdict) => boolean;
  }[];
}

/** `hookline demo`: real hooks in a throw-away workspace, fired one after the other. */
export const showDemo: Command<object> = async ({ print, flags, signal }) => {
  const place = mkdtempSync(path.join(tmpdir(), 'hookline-demo-'));
  const say = (text: string): void => (flags.json === true ? undefined : print.out(text));
  try {
    writeWorkspace(place);
    say(`A workspace with four hooks in two formats, and one hook of your own, in ${place}\n`);
    const before = await openDemo(place);
    const untrusted = await runSteps(before, [UNTRUSTED], { say, signal });
    say(colors.dim('\n  hookline trust --yes\n'));
    await trustAll(before);
    await before.close();
    const host = await openDemo(place);
    const trusted = await runSteps(host, TRUSTED, { say, signal });
    await host.close();
    const results = [...untrusted, ...trusted];
    const broken = results.filter(({ holds }) => !holds);
    if (flags.json === true) {
      print.json({
        steps: results.map(({ verdict, ...rest }) => ({ ...rest, verdict: jsonVerdict(verdict) })),
      });
    }
    say(
      broken.length === 0
        ? `\nAll ${plural(results.length, 'claim')} held.`
        : `\n${plural(broken.length, 'claim')} did not hold.`,
    );
    return broken.length === 0 ? EXIT.fine : EXIT.refused;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
};

function openDemo(place: string): Promise<Host> {
  const surroundings = readSurroundings();
  const home = path.join(place, 'home');
  const cwd = path.join(place, 'workspace');
  // Nothing of the person's own configuration, hooks or trust takes part in the tour.
  const env = { PATH: surroundings.env['PATH'], HOME: home, USER: 'demo' };
  return createHost({ cwd, roots: [cwd], surroundings: { ...surroundings, cwd, home, env } });
}

async function trustAll(host: Host): Promise<void> {
  const bindings = host
    .hooks()
    .filter(({ hook }) => hook.place === 'workspace')
    .map(({ hook }) => bindUnit(trustUnit(hook)));
  await trustUnits(recordFile(host), bindings, {
    now: systemClock.now(),
    guardedRoots: host.trust.guardedRoots,
  });
}

interface Claimed {
  readonly step: string;
  readonly claim: string;
  readonly holds: boolean;
  readonly verdict: Verdict;
}

async function runSteps(
  host: Host,
  steps: readonly Step[],
  { say, signal }: { say: (text: string) => void; signal: AbortSignal },
): Promise<Claimed[]> {
  const claimed: Claimed[] = [];
  for (const step of steps) {
    const verdict = await host.engine.dispatch(step.event, { signal });
    say(`${colors.bold(colors.cyan(step.title))}\n${readableVerdict(verdict)}`);
    for (const { claim, holds } of step.expects) {
      const isTrue = holds(verdict);
      say(`  ${isTrue ? colors.green('→') : colors.red('✗ not so:')} ${claim}`);
      claimed.push({ step: step.title, claim, holds: isTrue, verdict });
    }
    say('');
  }
  return claimed;
}

function write(file: string): FiredEvent {
  const input = { path: file, content: 'export const answer = 42;\n' };
  return { name: 'PreToolUse', tool: { callId: 'call_1', name: 'write_to_file', input } };
}

const UNTRUSTED: Step = {
  title: 'The agent wants to write app.js, and nobody has looked at the hooks yet',
  event: write('app.js'),
  expects: [
    {
      claim: 'the workspace’s hook did not run, and the verdict says so',
      holds: ({ skipped }) => skipped.some(awaitsTrust),
    },
    {
      claim: 'your own hook ran',
      holds: ({ outcomes }) => outcomes.some(({ hook }) => hook === 'cline:global:PreToolUse'),
    },
  ],
};

const TRUSTED: readonly Step[] = [
  {
    title: 'The agent wants to write app.js',
    event: write('app.js'),
    expects: [
      { claim: 'the call is denied', holds: ({ effect }) => effect === 'deny' },
      {
        claim: 'the model is told what to do instead',
        holds: ({ context }) => context.some(({ text }) => text.includes('.ts')),
      },
    ],
  },
  {
    title: 'The agent wants to write app.ts',
    event: write('app.ts'),
    expects: [
      {
        claim: 'both Cline hooks let it pass',
        holds: ({ effect, outcomes }) => effect === 'pass' && outcomes.length === 2,
      },
    ],
  },
  {
    title: 'The same with another agent’s tool: Claude’s Write, the hook unchanged',
    event: {
      name: 'PreToolUse',
      tool: { callId: 'call_2', name: 'Write', input: { file_path: 'app.js', content: '' } },
    },
    expects: [
      {
        claim: 'the hook for write_to_file denies it too',
        holds: ({ effect }) => effect === 'deny',
      },
    ],
  },
  {
    title:
      'The agent wants to push by force; a hook of Cline’s and one of Claude’s guard the same call',
    event: {
      name: 'PreToolUse',
      tool: { callId: 'call_3', name: 'Bash', input: { command: 'git push --force' } },
    },
    expects: [
      { claim: 'it is one verdict', holds: ({ effect }) => effect === 'deny' },
      {
        claim: 'both reasons are in it, each with its hook',
        holds: ({ reasons }) =>
          reasons.map(({ hook }) => hook.split(':')[0]).join(' ') === 'cline claude',
      },
    ],
  },
  {
    title: 'A command took long',
    event: {
      name: 'PostToolUse',
      tool: { callId: 'call_4', name: 'execute_command', input: { command: 'npm test' } },
      durationMs: 7200,
      result: { response: undefined, text: 'ok', success: true },
    },
    expects: [
      {
        claim: 'the hook tells the model',
        holds: ({ context }) => context.some(({ text }) => text.includes('7200 ms')),
      },
    ],
  },
  {
    title: 'A prompt is submitted, and the hook for it crashes',
    event: { name: 'UserPromptSubmit', prompt: 'hello' },
    expects: [
      { claim: 'the run goes on', holds: ({ effect }) => effect === 'pass' },
      {
        claim: 'the failure is not hidden',
        holds: ({ outcomes }) => outcomes.some(({ failure }) => failure?.kind === 'exit'),
      },
    ],
  },
];

const HOOKS: Readonly<Record<string, string>> = {
  'workspace/.clinerules/hooks/PreToolUse': readInput(`
  const { toolName, parameters } = input.preToolUse;
  const isScript = toolName === 'write_to_file' && parameters.path.endsWith('.js');
  const isPush = toolName === 'execute_command' && parameters.command.startsWith('git push');
  if (isPush) return { cancel: true, errorMessage: 'Pushing is left to people here' };
  return isScript
    ? { cancel: true, errorMessage: 'This project is written in TypeScript', contextModification: 'Use .ts files only.' }
    : { cancel: false };`),
  'workspace/.claude/settings.json': JSON.stringify({
    hooks: {
      PreToolUse: [
        {
          matcher: 'Bash',
          hooks: [
            {
              type: 'command',
              command: 'node',
              args: ['${CLAUDE_PROJECT_DIR}/.claude/hooks/no-force.js'],
            },
          ],
        },
      ],
    },
  }),
  'workspace/.claude/hooks/no-force.js': readInput(`
  const isForced = input.tool_input.command.includes('--force');
  return isForced ? { decision: 'block', reason: 'A push by force rewrites what others have' } : {};`),
  'workspace/.clinerules/hooks/PostToolUse': readInput(`
  const { executionTimeMs, parameters } = input.postToolUse;
  return executionTimeMs > 5000
    ? { cancel: false, contextModification: \`\${parameters.command} took \${executionTimeMs} ms.\` }
    : { cancel: false };`),
  'workspace/.clinerules/hooks/UserPromptSubmit':
    '#!/usr/bin/env node\nconsole.error("I have a bug");\nprocess.exit(1);\n',
  'home/Documents/Cline/Hooks/PreToolUse': readInput(`
  const isManifest = String(input.preToolUse.parameters.path).includes('package.json');
  return isManifest ? { cancel: true, errorMessage: 'package.json is off limits' } : { cancel: false };`),
};

/** A hook in Node, because that is the one language that is surely here. */
function readInput(body: string): string {
  return `#!/usr/bin/env node
function decide(input) {${body}
}
let text = '';
process.stdin.on('data', (chunk) => (text += chunk));
process.stdin.on('end', () => console.log(JSON.stringify(decide(JSON.parse(text)))));
`;
}

function writeWorkspace(place: string): void {
  for (const [name, text] of Object.entries(HOOKS)) {
    const file = path.join(place, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, 0o755);
  }
}
