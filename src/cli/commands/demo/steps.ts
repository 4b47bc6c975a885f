import { awaitsTrust, type Verdict } from '../../../hooks/decision.ts';
import type { FiredEvent } from '../../../hooks/facts.ts';

/** An event that is fired at the hooks of the tour. */
export interface Step {
  readonly title: string;
  readonly event: FiredEvent;
  /** What must have happened, in words, and whether it did. */
  readonly expects: readonly {
    readonly claim: string;
    readonly holds: (verdict: Verdict) => boolean;
  }[];
}

function write(file: string): FiredEvent {
  const input = { path: file, content: 'export const answer = 42;\n' };
  return { name: 'PreToolUse', tool: { callId: 'call_1', name: 'write_to_file', input } };
}

export const UNTRUSTED: Step = {
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

export const TRUSTED: readonly Step[] = [
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
