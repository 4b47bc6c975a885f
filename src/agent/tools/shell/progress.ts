import { type Clock, systemClock } from '../../../base/clock.ts';
import { truncateText } from '../../../base/json.ts';
import { plainText } from './plain-text.ts';

const EVERY_MS = 500;
const LOOKED_AT_BYTES = 4096;
const MAX_LINE_CHARACTERS = 200;

/** Tells the last line of output now and then, the first at once. */
export function createProgress(
  tell: (line: string) => void,
  clock: Pick<Clock, 'elapsed'> = systemClock,
): (chunk: Buffer) => void {
  let toldAt = -EVERY_MS;
  return (chunk) => {
    const now = clock.elapsed();
    if (now - toldAt < EVERY_MS) return;
    const line = lastLineOf(chunk);
    if (line === '') return;
    toldAt = now;
    tell(line);
  };
}

function lastLineOf(chunk: Buffer): string {
  const text = plainText(chunk.subarray(-LOOKED_AT_BYTES).toString('utf8')).trimEnd();
  return truncateText(text.slice(text.lastIndexOf('\n') + 1).trim(), MAX_LINE_CHARACTERS);
}
