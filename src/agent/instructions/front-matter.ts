import { requirePackage } from '../../base/built-files.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { splitFrontMatter } from '../../base/text.ts';
import { isRecord } from '../../base/json.ts';

/** The front matter and body of a skill, command, rule or sub-agent file. */
export interface FrontMatter {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: string;
  /** Why the fields are not valid YAML; lines that could be read are still used. */
  readonly problem: string | null;
}

/** Never throws. */
export async function parseFrontMatter(markdown: string): Promise<FrontMatter> {
  const { yaml, body } = splitFrontMatter(markdown);
  if (yaml === null) return { fields: {}, body, problem: null };
  const plain = parsePlainFields(yaml);
  if (plain !== null) return { fields: plain, body, problem: null };
  return { ...(await parseYamlFields(yaml)), body };
}

export function getTextField({ fields }: FrontMatter, key: string): string | null {
  const value = fields[key];
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

/** A YAML list, or a comma-separated text; null when the key is absent. */
export function getListField({ fields }: FrontMatter, key: string): readonly string[] | null {
  const value = fields[key];
  if (Array.isArray(value)) return value.flatMap((each) => (typeof each === 'string' ? each : []));
  return typeof value === 'string' ? splitAtCommas(value) : null;
}

// `Bash(git add:*, git commit:*)` is one entry.
function splitAtCommas(text: string): string[] {
  const entries = text.match(/(?:\([^)]*\)|\{[^}]*\}|[^,({])+/g) ?? [];
  return entries.map((entry) => entry.trim()).filter((entry) => entry !== '');
}

const MAX_ALIASES = 100;

async function parseYamlFields(yaml: string): Promise<Omit<FrontMatter, 'body'>> {
  const { parse } = requirePackage('yaml');
  try {
    const value: unknown = parse(yaml, { maxAliasCount: MAX_ALIASES, logLevel: 'error' });
    if (isRecord(value)) return { fields: value, problem: null };
    return { fields: {}, problem: 'expected lines such as "name: value" in the front matter' };
  } catch (error) {
    return { fields: parseLooseFields(yaml), problem: describeYamlError(error) };
  }
}

// Accepts `description: Use this when: …` and `- **/*.ts`, which are common but not valid YAML.
function parseLooseFields(yaml: string): Record<string, string | readonly string[]> {
  const fields = new Map<string, string | readonly string[]>();
  let listKey: string | null = null;
  for (const line of yaml.split(/\r?\n/)) {
    const [, key, value = ''] = /^([A-Za-z][\w-]*):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    const item = ITEM.exec(line)?.[1];
    if (key !== undefined) {
      listKey = value === '' ? key : null;
      if (value !== '') fields.set(key, unquote(value));
    } else if (item !== undefined && listKey !== null) {
      const items = fields.get(listKey);
      fields.set(listKey, [...(typeof items === 'object' ? items : []), unquote(item)]);
    }
  }
  return Object.fromEntries(fields);
}

function unquote(written: string): string {
  const quoted = QUOTED.exec(written);
  return quoted === null ? written : (quoted[1] ?? quoted[2] ?? '');
}

function describeYamlError(error: unknown): string {
  const [reason = ''] = getErrorMessage(error).split('\n');
  return `invalid YAML front matter (${reason}); read line by line`;
}

/**
 * Parses front matter of plain texts and lists without the YAML package, which takes longer to load than
 * everything else here. Numbers and booleans stay text. Returns null for anything else.
 */
export function parsePlainFields(yaml: string): Record<string, string | readonly string[]> | null {
  const fields = new Map<string, string | string[]>();
  let open: string[] | null = null;
  for (const line of yaml.split(/\r?\n/)) {
    const item = ITEM.exec(line)?.[1];
    if (BLANK.test(line)) continue;
    if (item !== undefined) {
      const text = parsePlainText(item);
      if (text === null || open === null) return null;
      open.push(text);
      continue;
    }
    const [, key, written = ''] = FIELD.exec(line) ?? [];
    if (key === undefined || fields.has(key)) return null;
    const value = written === '' ? [] : (parsePlainText(written) ?? parsePlainList(written));
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

function parsePlainText(written: string): string | null {
  const quoted = QUOTED.exec(written);
  if (quoted !== null) return quoted[1] ?? quoted[2] ?? '';
  return PLAIN.test(written) && !SPECIAL.test(written) ? written : null;
}

/** `[a, b]` */
function parsePlainList(written: string): string[] | null {
  const inside = /^\[([^[\]{}]*)\]$/.exec(written)?.[1];
  if (inside === undefined) return null;
  const items = inside.split(',').map((item) => parsePlainText(item.trim()));
  return items.every((item) => item !== null) ? items : null;
}

// A key without a value is null in YAML, not an empty list.
function isComplete(fields: ReadonlyMap<string, string | readonly string[]>): boolean {
  return [...fields.values()].every((value) => typeof value === 'string' || value.length > 0);
}
