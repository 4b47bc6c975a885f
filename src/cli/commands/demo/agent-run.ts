import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { ScriptTurn } from '../../../agent/models/scripted.ts';
import type { RunResult, RuntimeEvent } from '../../../agent/runtime-event.ts';
import { isRecord } from '../../../base/json.ts';
import { isRefusal } from '../../../hooks/decision.ts';
import type { Handler } from '../../../hooks/handler.ts';
import type { Host, HostOptions } from '../../../host/create-host.ts';
import { colors } from '../../words/colors.ts';
import { oneLine, printableLines } from '../../words/print.ts';

const SCRIPT: readonly ScriptTurn[] = [
  {
    text: 'I write the answer.',
    tools: [{ name: 'Write', input: { file_path: 'app.js', content: 'module.exports = 42;\n' } }],
  },
  {
    text: 'TypeScript, then.',
    tools: [{ name: 'Write', input: { file_path: 'app.ts', content: 'export default 42;\n' } }],
  },
  { tools: [{ name: 'execute_command', input: { command: 'git push --force' } }] },
  { tools: [{ name: 'read_files', input: { files: [{ path: 'app.ts' }] } }] },
  { text: 'app.ts holds the answer. Pushing is left to you.' },
];

/** A hook of the third kind: a function of the program that runs the agent. */
const INLINE: Handler = {
  id: 'demo:conventions',
  dialect: 'demo',
  source: 'hookline demo',
  event: 'UserPromptSubmit',
  vocabulary: 'claude',
  onFailure: 'open',
  run: () => ({ decision: { effect: 'pass', context: 'The answer is a number.' } }),
};

/** What an agent in the workspace of the tour works with. */
export const AGENT_OPTIONS: HostOptions = {
  model: { script: SCRIPT },
  permissionMode: 'acceptEdits',
  sources: [{ handlers: () => [INLINE] }],
};

export const AGENT_TITLE =
  'An agent works here: its model follows a script, its tools and the hooks are real';

/** What is known after the run. */
interface Finished {
  readonly result: RunResult | null;
  readonly news: readonly RuntimeEvent[];
  readonly transcript: string;
  readonly workspace: string;
}

export interface AgentClaim {
  readonly claim: string;
  readonly holds: boolean;
}

/** Runs the task, tells of it while it goes on, and says what must have come of it. */
export async function runAgent(
  host: Host,
  { say, signal }: { say: (text: string) => void; signal: AbortSignal },
): Promise<readonly AgentClaim[]> {
  const news: RuntimeEvent[] = [];
  const unsubscribe = host.subscribe((event) => {
    news.push(event);
    for (const line of linesOf(event)) say(`  ${line}`);
  });
  const { result, transcriptPath } = await host.start({ prompt: 'Write the answer', signal });
  unsubscribe();
  const workspace = host.startDirectory;
  const transcript = transcriptPath === null ? '' : readFileSync(transcriptPath, 'utf8');
  return CLAIMS.map(({ claim, holds }) => ({
    claim,
    holds: holds({ result, news, transcript, workspace }),
  }));
}

function linesOf(event: RuntimeEvent): readonly string[] {
  switch (event.type) {
    case 'run-start':
      return [colors.dim(`> ${event.prompt}`)];
    case 'message-end':
      return event.shown === '' ? [] : [event.shown];
    case 'tool-end':
      return [callLine(event)];
    case 'hook':
      return event.verdict.outcomes.flatMap(({ hook, failure }) =>
        failure === null ? [] : [colors.yellow(`failed: ${hook}: ${oneLine(failure.message)}`)],
      );
    default:
      return [];
  }
}

function callLine(event: Extract<RuntimeEvent, { type: 'tool-end' }>): string {
  const { tool, input, output, deniedBy } = event;
  const call = `${tool} ${oneLine(subjectOf(input))}`;
  if (deniedBy === null) return `${colors.green('✓')} ${call}`;
  return `${colors.red('✗')} ${call}: denied by a ${deniedBy}: ${printableLines(output.text)}`;
}

function subjectOf(input: unknown): string {
  if (!isRecord(input)) return '';
  const { file_path: file, command, files } = input;
  if (typeof file === 'string') return path.basename(file);
  return typeof command === 'string' ? command : JSON.stringify(files ?? '');
}

const CLAIMS: readonly {
  readonly claim: string;
  readonly holds: (finished: Finished) => boolean;
}[] = [
  {
    claim: 'app.js was never written, and the model got the reason as the answer to its call',
    holds: ({ workspace, transcript }) =>
      !existsSync(path.join(workspace, 'app.js')) &&
      transcript.includes('"is_error":true') &&
      transcript.includes('This project is written in TypeScript'),
  },
  {
    claim: 'app.ts is on the disk',
    holds: ({ workspace }) => existsSync(path.join(workspace, 'app.ts')),
  },
  {
    claim: 'a Cline hook and a Claude hook refused the push, which never ran',
    holds: ({ news, result }) => news.some(isTwiceRefused) && result?.denials.length === 2,
  },
  {
    claim: 'what a hook in this program said reached the model, with its name',
    holds: ({ transcript }) =>
      transcript.includes('The answer is a number.\\n(from demo:conventions)'),
  },
  {
    claim: 'the agent was done, and all that was said is in a session that can be resumed',
    holds: ({ result, transcript }) =>
      result?.ending === 'done' && transcript.includes('Pushing is left to you.'),
  },
];

function isTwiceRefused(event: RuntimeEvent): boolean {
  if (event.type !== 'hook' || !isRefusal(event.verdict.effect)) return false;
  return event.verdict.reasons.map(({ hook }) => hook.split(':')[0]).join(' ') === 'cline claude';
}
