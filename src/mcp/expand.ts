import type { ServerEndpoint, ServerConfig } from './server-config.ts';

export type ServerVariables = Readonly<Record<string, string | undefined>>;

export interface ExpandedServer {
  readonly endpoint: ServerEndpoint;
  /** Variables that are named without a default and not set. */
  readonly missing: readonly string[];
}

/** Fills in `${NAME}` and `${NAME:-default}` wherever an entry may have them. */
export function expandServer(
  {
    endpoint,
    variables,
    isLiteral,
  }: Pick<ServerConfig, 'endpoint' | 'variables' | 'isLiteral'>,
  env: ServerVariables,
): ExpandedServer {
  if (isLiteral === true) return { endpoint, missing: [] };
  const missing = new Set<string>();
  const known = { ...env, ...variables };
  const fill = (text: string): string => fillText(text, known, (name) => missing.add(name));
  const fillAll = (texts: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fill(text)]));
  const filled: ServerEndpoint =
    endpoint.type === 'stdio'
      ? {
          type: 'stdio',
          command: fill(endpoint.command),
          args: endpoint.args.map(fill),
          env: fillAll(endpoint.env),
          cwd: endpoint.cwd === null ? null : fill(endpoint.cwd),
        }
      : { type: 'http', url: fill(endpoint.url), headers: fillAll(endpoint.headers) };
  return { endpoint: filled, missing: [...missing] };
}

const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

function fillText(text: string, known: ServerVariables, miss: (name: string) => void): string {
  return text.replaceAll(VARIABLE, (whole, name: string, otherwise: string | undefined) => {
    const value = known[name];
    if (value !== undefined && (value !== '' || otherwise === undefined)) return value;
    if (otherwise !== undefined) return otherwise;
    miss(name);
    return whole;
  });
}
