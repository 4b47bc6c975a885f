import { isRecord, parseJson } from '../../../base/json.ts';
import type { Answer, Handler, HandlerInput } from '../../../hooks/handler.ts';
import type { HttpEntry, Limited } from '../entry.ts';
import type { ResolveHost } from '../../../base/network-addresses.ts';
import {
  formatExcerpt,
  createFailedAnswer,
  createLimitedRun,
  createProgramReport,
} from './limited-run.ts';
import type { Reply } from './http-exchange.ts';
import { type HttpRules, isAllowedUrl, isHostAllowedByName, formatUrl } from './http-rules.ts';

export interface HttpTools {
  encode(input: HandlerInput): string;
  /** Decodes a body that is a JSON object. */
  decode(input: HandlerInput, bodyText: string): Answer;
  readonly rules: HttpRules;
  readonly env: Environment;
  /** Whether the user allows all hooks to call private addresses. */
  readonly allowPrivate: boolean;
  /** Resolves host names; the system's resolver by default. */
  readonly resolve?: ResolveHost;
}

/** Creates a run that posts the payload to a URL and decodes the response as a hook's output. */
export function createHttpRun(entry: Limited<HttpEntry>, tools: HttpTools): Handler['run'] {
  return createLimitedRun(entry, (input, signal) => askServer(entry, tools, input, signal));
}

async function askServer(
  entry: HttpEntry,
  tools: HttpTools,
  input: HandlerInput,
  signal: AbortSignal,
): Promise<Answer> {
  const url = URL.canParse(entry.url) ? new URL(entry.url) : null;
  const refusal = findRefusal(url, tools.rules);
  if (url === null || refusal !== null) return createFailedAnswer('spawn', refusal ?? NO_URL);
  const { headers, notes } = fillHeaders(entry, tools.rules, tools.env);
  const mayBePrivate = tools.allowPrivate || isHostAllowedByName(url, tools.rules);
  const { resolve } = tools;
  const post = { url, headers, body: tools.encode(input), mayBePrivate };
  const { sendPost } = await import('./http-exchange.ts');
  const reply = await sendPost(resolve === undefined ? post : { ...post, resolve }, signal);
  const answer = toAnswer(reply, url, (text) => tools.decode(input, text));
  return withNotes(answer, notes);
}

const NO_URL = 'HTTP hook blocked: its url cannot be read; expected https://host/path';

function findRefusal(url: URL | null, rules: HttpRules): string | null {
  if (url === null) return NO_URL;
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return `HTTP hook blocked: expected a url that starts with https:, found ${url.protocol}`;
  }
  if (isAllowedUrl(url, rules)) return null;
  return `HTTP hook blocked: ${formatUrl(url)} does not match any pattern in allowedHttpHookUrls`;
}

function toAnswer(reply: Reply, url: URL, decode: (text: string) => Answer): Answer {
  if ('failure' in reply) return reply;
  const { status, text } = reply;
  if (status < 200 || status > 299) {
    return createFailedAnswer('exit', `HTTP ${status} from ${formatUrl(url)}`);
  }
  if (text.trim() === '') return {};
  const program = createProgramReport(text);
  const parsed = parseJson(text);
  if (parsed.ok && isRecord(parsed.value)) return { program, ...decode(text) };
  const where = parsed.ok || !/^\s*[[{]/.test(text) ? '' : ` (${parsed.error})`;
  const message = `HTTP hook must return JSON, but got non-JSON response body: ${formatExcerpt(text)}${where}`;
  return { program, ...createFailedAnswer('output', message) };
}

function withNotes(answer: Answer, notes: readonly string[]): Answer {
  return notes.length === 0 ? answer : { ...answer, notes: [...notes, ...(answer.notes ?? [])] };
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Builds the headers to send: the fixed ones, then the hook's own with variables filled in. The notes
 * are warnings, such as variables that stayed empty.
 */
function fillHeaders(
  entry: HttpEntry,
  rules: HttpRules,
  env: Environment,
): { headers: Readonly<Record<string, string>>; notes: readonly string[] } {
  const headers = new Map<string, string>(FIXED_HEADERS);
  const notes: string[] = [];
  const lookUp = (name: string, header: string): string => {
    const why = explainEmptyVariable(name, entry, rules, env);
    if (why !== null) notes.push(`header "${header}": $${name} is empty because ${why}`);
    return why === null ? (env[name] ?? '') : '';
  };
  for (const [header, template] of Object.entries(entry.headers)) {
    const value = fillVariables(template, (name) => lookUp(name, header));
    const problem = findHeaderProblem(header, value);
    if (problem === null) headers.set(header.toLowerCase(), value);
    else notes.push(`header "${header}" was left out because ${problem}`);
  }
  return { headers: Object.fromEntries(headers), notes };
}

const FIXED_HEADERS = [
  ['content-type', 'application/json'],
  ['accept', 'application/json, text/plain, */*'],
] as const;

const VARIABLE = /\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))/g;

function fillVariables(template: string, getValue: (name: string) => string): string {
  const filled = template.replace(VARIABLE, (_all, braced?: string, bare?: string) =>
    getValue(braced ?? bare ?? ''),
  );
  return stripLineEnds(filled);
}

// A value that was read from a file often ends in a line feed, which in a header would start another header.
function stripLineEnds(text: string): string {
  return text.replaceAll(/[\r\n\0]/g, '');
}

function explainEmptyVariable(
  name: string,
  entry: HttpEntry,
  rules: HttpRules,
  env: Environment,
): string | null {
  if (!entry.allowedEnvVars.includes(name)) return "the hook's allowedEnvVars does not name it";
  if (rules.allowedEnvVars !== null && !rules.allowedEnvVars.includes(name)) {
    return 'httpHookAllowedEnvVars does not name it';
  }
  return env[name] === undefined ? 'it is not set' : null;
}

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

// These headers delimit the message; a wrong one would allow request smuggling.
const FRAMING =
  /^(?:content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*)$/i;

function findHeaderProblem(name: string, value: string): string | null {
  if (!NAME.test(name)) return 'its name has characters that no header may have';
  if (FRAMING.test(name)) return 'it belongs to the connection, not to the hook';
  return VALUE.test(value) ? null : 'its value has characters that no header may have';
}
