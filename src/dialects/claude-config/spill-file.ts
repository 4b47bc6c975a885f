import path from 'node:path';
import { appendPrivateFile } from '../../base/files.ts';
import type { HookEvent } from '../../hooks/facts.ts';
import { safeFileName } from '../../process/env-files.ts';
import type { Spill } from './output/spill.ts';
import type { ClaudeSession } from './session.ts';

let spilled = 0;

/** Keeps output that is too long for the model in a file that the model can read. */
export function createSpill({ stateDirectory }: ClaudeSession, event: HookEvent): Spill {
  return (text, name) => {
    if (stateDirectory === null) return null;
    spilled += 1;
    const file = `hook-${event.at}-${process.pid}-${spilled}-${safeFileName(name)}.txt`;
    const place = path.join(stateDirectory, 'tool-results', safeFileName(event.sessionId), file);
    try {
      appendPrivateFile(place, text);
      return place;
    } catch {
      // The caller cuts the text instead, and says so.
      return null;
    }
  };
}
