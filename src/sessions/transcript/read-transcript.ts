import { isRecord, parseJson } from '../../base/json.ts';
import { parseStoredLine, type StoredLine } from './stored-line.ts';
import { readTextLines, type TextLine } from './text-lines.ts';

/** Told in words, with file and line, what was left out. */
export type ReportProblem = (problem: string) => void;

/**
 * What a transcript tells, line by line. Whatever cannot be read is left out and told; lines that
 * no conversation is made of are passed over, and a line that stands there twice counts once.
 * Throws when the file itself cannot be read.
 */
export function* readTranscript(
  file: string,
  tell: ReportProblem,
  fromByte = 0,
): Generator<StoredLine> {
  const seen = new Set<string>();
  for (const textLine of readTextLines(file, fromByte)) {
    const place = `${file}:${textLine.number}`;
    const line = parseLine(textLine, (why) => tell(`${place} ${why}`));
    if (line === null || (line.uuid !== null && seen.has(line.uuid))) continue;
    if (line.uuid !== null) seen.add(line.uuid);
    yield line;
  }
}

function parseLine({ text, isWhole }: TextLine, tell: ReportProblem): StoredLine | null {
  if (text === null) tell('is too long to be read, so it is left out');
  if (text === null || text.trim() === '') return null;
  const parsed = parseJson(text);
  if (!parsed.ok) {
    tell(isWhole ? 'is not JSON, so it is left out' : 'was only half written, so it is left out');
    return null;
  }
  if (isRecord(parsed.value)) return parseRecord(parsed.value, tell);
  tell('is no JSON object, so it is left out');
  return null;
}

function parseRecord(record: Record<string, unknown>, tell: ReportProblem): StoredLine | null {
  const line = parseStoredLine(record);
  if (line === null) {
    if (record['type'] === 'user' || record['type'] === 'assistant') {
      tell('has no message, so it is left out');
    }
    return null;
  }
  if (line.type !== 'message') return line;
  if (line.unknownBlocks.length > 0) {
    tell(
      `holds blocks that are not known here (${line.unknownBlocks.join(', ')}); they are left out`,
    );
  }
  return line.message.content.length === 0 ? null : line;
}

const MOST_TOLD = 20;

/** Collects problems; of a file that is all garbage, the first ones and how many there were. */
export function createProblemList(): {
  readonly tell: ReportProblem;
  readonly list: () => readonly string[];
} {
  const told: string[] = [];
  let more = 0;
  return {
    tell(problem) {
      if (told.length < MOST_TOLD) told.push(problem);
      else more += 1;
    },
    list: () => (more === 0 ? told : [...told, `${more} more lines like these were left out`]),
  };
}
