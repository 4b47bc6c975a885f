import type { Reached, ServerConfig } from './server-config.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

export interface Expanded {
  readonly reached: Reached;
  /** Variables that are named without a default and not set. */
  readonly missing: readonly string[];
}

/** Fills in `${NAME}` and `${NAME:-default}` wherever an entry may have them. */
export function expandServer(
  { reached, variables, isLiteral }: Pick<ServerConfig, 'reached' | 'variables' | 'isLiteral'>,
  env: Variables,
): Expanded {
  if (isLiteral === true) return { reached, missing: [] };
  const missing = new Set<string>();
  const known = { ...env, ...variables };
  const fill = (text: string): string => fillText(text, known, (name) => missing.add(name));
  const fillAll = (texts: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fill(text)]));
  const filled: Reached =
    reached.type === 'stdio'
      ? {
          type: 'stdio',
          command: fill(reached.command),
          args: reached.args.map(fill),
          env: fillAll(reached.env),
          cwd: reached.cwd === null ? null : fill(reached.cwd),
        }
      : { type: 'http', url: fill(reached.url), headers: fillAll(reached.headers) };
  return { reached: filled, missing: [...missing] };
}

const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

function fillText(text: string, known: Variables, miss: (name: string) => void): string {
  return text.replaceAll(VARIABLE, (whole, name: string, otherwise: string | undefined) => {
    const value = known[name];
    if (value !== undefined && (value !== '' || otherwise === undefined)) return value;
    if (otherwise !== undefined) return otherwise;
    miss(name);
    return whole;
  });
}
