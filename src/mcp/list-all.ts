import { isRecord } from '../base/json.ts';
import type { ListKind, OpenClient } from './open-client.ts';

const MAX_PAGES = 50;
const MAX_LISTED = 2000;

/** Every page of a list; nothing when the server has no such list. */
export async function listAllPages(
  client: OpenClient,
  kind: ListKind,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  if (!client.has(kind)) return [];
  const all: unknown[] = [];
  let cursor: unknown;
  for (let pages = 0; pages < MAX_PAGES && all.length < MAX_LISTED; pages += 1) {
    const params = typeof cursor === 'string' ? { cursor } : {};
    const answer = await client.request(`${kind}/list`, params, { signal });
    const listed: unknown = isRecord(answer) ? answer[kind] : null;
    const page: readonly unknown[] = Array.isArray(listed) ? listed : [];
    all.push(...page);
    cursor = isRecord(answer) ? answer['nextCursor'] : undefined;
    if (typeof cursor !== 'string' || cursor === '') break;
  }
  return all.slice(0, MAX_LISTED);
}

/** The first of a name counts. */
export function dedupeByName<Named extends { readonly name: string }>(
  all: readonly Named[],
): readonly Named[] {
  const known = new Map<string, Named>();
  for (const each of all) if (!known.has(each.name)) known.set(each.name, each);
  return [...known.values()];
}
