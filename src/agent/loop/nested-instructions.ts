import { isRecord } from '../../base/json.ts';
import type { Agent } from '../agent.ts';
import { announceInstructions } from './fire-aside.ts';
import { formatInstruction } from '../instructions/system-prompt.ts';
import type { PreparedToolCall } from '../tools/prepare-tool-call.ts';

/** What instructions lie beside files that were just read, for the model; each only once. */
export async function nestedInstructions(
  agent: Agent,
  { parts }: PreparedToolCall,
): Promise<readonly string[]> {
  const read = parts.filter(({ name }) => name === 'Read').flatMap(({ input }) => fileIn(input));
  const texts: string[] = [];
  for (const file of read) {
    const { instructions, notes } = await agent.world.instructionsFor(file);
    announceInstructions(agent, instructions);
    texts.push(...instructions.map(formatInstruction));
    for (const text of notes) agent.tell({ type: 'notice', level: 'warning', text });
  }
  return texts;
}

function fileIn(input: unknown): readonly string[] {
  const file = isRecord(input) ? input['file_path'] : undefined;
  return typeof file === 'string' ? [file] : [];
}
