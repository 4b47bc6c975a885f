/** What settings allow an HTTP hook to do. */
export interface HttpRules {
  /** `allowedHttpHookUrls` of the user, the caller and the administrator; null allows every URL. */
  readonly allowedUrls: readonly string[] | null;
  /** The same list of the hook's own workspace, which takes away from the other. */
  readonly workspaceUrls?: readonly string[] | null;
  /** Patterns that no workspace wrote: a private host is allowed when one of them names it. */
  readonly ownUrls: readonly string[];
  /** `httpHookAllowedEnvVars`; null leaves the choice to each hook. */
  readonly allowedEnvVars: readonly string[] | null;
}

export function isAllowedUrl(url: URL, { allowedUrls, workspaceUrls = null }: HttpRules): boolean {
  return [allowedUrls, workspaceUrls].every(
    (patterns) => patterns === null || patterns.some((pattern) => isUrlMatch(pattern, url)),
  );
}

/** Whether the user allowed this host by its name, not by a wildcard. */
export function isHostAllowedByName(url: URL, { ownUrls }: HttpRules): boolean {
  return ownUrls.some((pattern) => {
    const parts = parsePattern(pattern);
    return parts !== null && !parts.authority.includes('*') && isUrlMatch(pattern, url);
  });
}

/** Formats a URL without credentials, query and fragment, which may contain secrets. */
export function formatUrl({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

function isUrlMatch(pattern: string, url: URL): boolean {
  if (pattern === '*') return true;
  const parts = parsePattern(pattern);
  if (parts === null) return false;
  return (
    isWildcardMatch(parts.scheme, url.protocol.slice(0, -1)) &&
    listAuthorities(url).some((authority) => isWildcardMatch(parts.authority, authority)) &&
    isWildcardMatch(parts.rest, `${url.pathname}${url.search}`)
  );
}

/**
 * Splits a pattern into parts that are compared one by one, so that the star of
 * `https://*.example.com/*` cannot match a path on another host.
 */
function parsePattern(pattern: string) {
  const isSchemeLeftOut = pattern.startsWith('*') && !pattern.includes('://');
  const whole = isSchemeLeftOut ? `*://${pattern}` : pattern;
  const match = /^([^:/?#]+):\/\/(?:[^@/?#]*@)?([^/?#]*)([^#]*)/.exec(whole);
  if (match === null) return null;
  const [, scheme = '', authority = '', rest = ''] = match;
  return {
    scheme: scheme.toLowerCase(),
    authority: authority.toLowerCase(),
    rest: normalizePathPattern(authority, rest),
  };
}

function normalizePathPattern(authority: string, rest: string): string {
  if (rest.startsWith('/')) return rest;
  if (rest === '' && authority.endsWith('*')) return '*';
  return `/${rest}`;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

function listAuthorities({ host, hostname, port, protocol }: URL): string[] {
  if (port !== '') return [host];
  return [host, `${hostname}:${DEFAULT_PORTS[protocol] ?? ''}`];
}

/** `*` matches any text. Each piece matches at its first position, so there is no backtracking. */
export function isWildcardMatch(pattern: string, text: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return text === pattern;
  const end = text.length - last.length;
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let from = first.length;
  for (const piece of others) {
    const at = text.indexOf(piece, from);
    if (at === -1 || at + piece.length > end) return false;
    from = at + piece.length;
  }
  return true;
}
