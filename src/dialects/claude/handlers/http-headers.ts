import type { HttpEntry } from '../entry.ts';
import type { HttpRules } from './http-rules.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Builds the headers to send: the fixed ones, then the hook's own with variables filled in. The notes
 * are warnings, such as variables that stayed empty.
 */
export function fillHeaders(
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
