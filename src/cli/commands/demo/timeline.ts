import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { RuntimeEvent } from '../../../agent/runtime-event.ts';
import { isRecord } from '../../../base/json.ts';
import type { Outcome } from '../../../hooks/decision.ts';
import { colors } from '../../words/colors.ts';
import { milliseconds, oneLine } from '../../words/print.ts';

/** Tells what happened, one line for each thing: who, what they said, how long it took, what changed. */
export function timelineOf(event: RuntimeEvent, workspace: string): readonly string[] {
  switch (event.type) {
    case 'run-start':
      return [`${colors.bold('person')}  ${oneLine(event.prompt)}`];
    case 'message-end':
      return event.shown === '' ? [] : [`${colors.bold('agent')}   ${oneLine(event.shown)}`];
    case 'tool-end':
      return [callLine(event), ...changeLines(event, workspace)];
    case 'hook':
      return event.verdict.outcomes.map((outcome) => hookLine(event.verdict.event, outcome));
    default:
      return [];
  }
}

type ToolEnd = Extract<RuntimeEvent, { type: 'tool-end' }>;

function callLine({ tool, input, output, deniedBy, durationMs }: ToolEnd): string {
  const call = `${tool} ${oneLine(subjectOf(input))}`;
  if (deniedBy !== null) return `${colors.red('✗ tool')}  ${call}: never ran`;
  const said = tool === 'Write' ? '' : `: ${oneLine(output.text)}`;
  return `${colors.green('✓ tool')}  ${call}${said} ${took(durationMs)}`;
}

/** Hooks that ran after a file was written may have left something else in it. */
function changeLines({ input, deniedBy }: ToolEnd, workspace: string): readonly string[] {
  if (deniedBy !== null || !isRecord(input)) return [];
  const { file_path: file, content } = input;
  if (typeof file !== 'string' || typeof content !== 'string') return [];
  const now = readFileSync(path.resolve(workspace, file), 'utf8');
  if (now === content) return [];
  const [before, after] = [content, now].map((text) => JSON.stringify(text));
  return [`${colors.yellow('  file')}  ${path.basename(file)}: ${before} became ${after}`];
}

function subjectOf(input: unknown): string {
  if (!isRecord(input)) return '';
  const { file_path: file, command, text } = input;
  if (typeof file === 'string') return path.basename(file);
  return typeof command === 'string' ? command : JSON.stringify(text ?? input);
}

function hookLine(event: string, outcome: Outcome): string {
  const who = `${KIND[outcome.dialect] ?? outcome.dialect}, ${event}`;
  return `${colors.cyan('  hook')}  ${who}: ${wordsOf(outcome)} ${took(outcome.durationMs)}`;
}

const KIND: Readonly<Record<string, string>> = {
  cline: 'Cline file',
  claude: 'Claude settings',
  plugin: 'Cline plugin',
};

function wordsOf({ decision, failure }: Outcome): string {
  if (failure !== null) return colors.red(`failed: ${oneLine(failure.message)}`);
  const { effect = 'pass', reason, context, notice } = decision ?? {};
  const said = [reason, notice, context].filter((text) => text !== undefined).map(oneLine);
  const word = effect === 'pass' ? colors.dim(effect) : colors.red(effect);
  return said.length === 0 ? word : `${word}: ${said.join('; ')}`;
}

function took(ms: number): string {
  return colors.dim(`(${milliseconds(ms)})`);
}
