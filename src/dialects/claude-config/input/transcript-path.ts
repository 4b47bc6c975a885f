import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Moment } from '../../../hooks/facts.ts';

const LONGEST_NAME = 200;

/** Where a session's transcript stands below a directory: `<start directory>/<session>.jsonl`. */
export function transcriptPath(directory: string, moment: Moment): string {
  const start = moment.startDirectory ?? moment.workspaceRoots[0] ?? moment.cwd;
  return path.join(directory, fileName(start), `${fileName(moment.sessionId)}.jsonl`);
}

/** Where a sub-agent's own transcript stands, beside that of its session. */
export function agentTranscriptPath(sessionTranscript: string, agentId: string): string {
  const session = sessionTranscript.replace(/\.jsonl$/u, '');
  return path.join(session, 'subagents', `agent-${fileName(agentId)}.jsonl`);
}

/** Any text as a name that no file system refuses and that leads nowhere else. */
function fileName(text: string): string {
  const name = text.replace(/[^A-Za-z0-9]/gu, '-');
  if (name.length <= LONGEST_NAME) return name === '' ? '-' : name;
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 8);
  return `${name.slice(0, LONGEST_NAME)}-${digest}`;
}
