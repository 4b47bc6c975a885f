import { truncateText } from '../../../base/json.ts';

/** How a plugin's process ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why we ended it ourselves; null when nobody did. */
  readonly reason: string | null;
  /** The end of what it wrote to stderr. */
  readonly stderr: string;
}

const MAX_QUOTE = 300;

/** One sentence for whoever called it, a person or a model. */
export function describeEnding(plugin: string, ending: Ending): string {
  const how = `the process of the plugin "${plugin}" ${howItEnded(ending)}`;
  const last = tellingLine(ending.stderr);
  const quote = last === null ? '' : `; it last wrote: ${truncateText(last, MAX_QUOTE)}`;
  return `${how}, so nothing of it works any more in this session${quote}`;
}

function howItEnded({ code, signal, reason }: Ending): string {
  if (reason !== null) return reason;
  if (signal !== null) return `was ended by ${signal}`;
  return `ended by itself with exit code ${code ?? 'unknown'}`;
}

const FATAL = /^(?:FATAL ERROR|[\w$.]*(?:Error|Exception)\b)/;
/** What Node.js prints around an error that nobody caught. */
const AROUND = /^(?:\s+at |Node\.js v|\s*\^|-{3,}|\s*$)/;

/** The line that says what happened: an error rather than the stack below it. */
function tellingLine(stderr: string): string | null {
  const lines = stderr.split('\n').filter((line) => !AROUND.test(line));
  const telling = lines.findLast((line) => FATAL.test(line)) ?? lines.at(-1);
  return telling?.trim() ?? null;
}
