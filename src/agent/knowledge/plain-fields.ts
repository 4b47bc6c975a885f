/**
 * Reads front matter that is no more than plain texts and lists of them, as most is, without YAML, which
 * takes longer to load than all else. Numbers and truth values stay text. Null for anything else.
 */
export function parsePlainFields(yaml: string): Record<string, string | readonly string[]> | null {
  const fields = new Map<string, string | string[]>();
  let open: string[] | null = null;
  for (const line of yaml.split(/\r?\n/)) {
    const item = ITEM.exec(line)?.[1];
    if (BLANK.test(line)) continue;
    if (item !== undefined) {
      const text = plainText(item);
      if (text === null || open === null) return null;
      open.push(text);
      continue;
    }
    const [, key, written = ''] = FIELD.exec(line) ?? [];
    if (key === undefined || fields.has(key)) return null;
    const value = written === '' ? [] : (plainText(written) ?? plainList(written));
    if (value === null) return null;
    fields.set(key, value);
    open = written === '' && typeof value !== 'string' ? value : null;
  }
  return isComplete(fields) ? Object.fromEntries(fields) : null;
}

const BLANK = /^\s*(?:#.*)?$/;
const FIELD = /^([A-Za-z][\w-]*):(?:[ \t]+(.*?))?[ \t]*$/;
const ITEM = /^[ ]*-[ ]+(.*?)[ \t]*$/;
const PLAIN = /^[A-Za-z0-9_./$(][^\t]*$/;
const QUOTED = /^(?:"([^"\\]*)"|'([^']*)')$/;
const SPECIAL = /: |:$| #|^(?:null|\.inf|\.nan)$/i;

function plainText(written: string): string | null {
  const quoted = QUOTED.exec(written);
  if (quoted !== null) return quoted[1] ?? quoted[2] ?? '';
  return PLAIN.test(written) && !SPECIAL.test(written) ? written : null;
}

/** `[a, b]` */
function plainList(written: string): string[] | null {
  const inside = /^\[([^[\]{}]*)\]$/.exec(written)?.[1];
  if (inside === undefined) return null;
  const items = inside.split(',').map((item) => plainText(item.trim()));
  return items.every((item) => item !== null) ? items : null;
}

// A key with nothing after it has no value, which is not an empty list.
function isComplete(fields: ReadonlyMap<string, string | readonly string[]>): boolean {
  return [...fields.values()].every((value) => typeof value === 'string' || value.length > 0);
}
