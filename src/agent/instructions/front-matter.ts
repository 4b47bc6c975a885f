import { getErrorMessage } from '../../base/errors.ts';
import { splitFrontMatter } from '../../base/front-matter.ts';
import { isRecord } from '../../base/json.ts';

/** A markdown file of a skill, a command, a rule or a sub-agent. */
export interface FrontMatter {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: string;
  /** What is wrong with the fields; the lines that could be read count all the same. */
  readonly problem: string | null;
}

/** Never throws, whatever the text is. */
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

/** A list, or one text with commas between its entries; null when the key is absent. */
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
  const { parse } = await import('yaml');
  try {
    const value: unknown = parse(yaml, { maxAliasCount: MAX_ALIASES, logLevel: 'error' });
    if (isRecord(value)) return { fields: value, problem: null };
    return { fields: {}, problem: 'expected lines such as "name: value" in its front matter' };
  } catch (error) {
    return { fields: parseLooseFields(yaml), problem: describeYamlError(error) };
  }
}

// People write `description: Use this when: …`, which is no YAML and still clear.
function parseLooseFields(yaml: string): Record<string, string> {
  const lines = yaml.matchAll(/^([A-Za-z][\w-]*):[ \t]*(\S.*?)[ \t]*$/gm);
  return Object.fromEntries([...lines].map(([, key = '', value = '']) => [key, value]));
}

function describeYamlError(error: unknown): string {
  const [reason = ''] = getErrorMessage(error).split('\n');
  return `its front matter is no YAML (${reason}), so it was read line by line`;
}

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

// A key with nothing after it has no value, which is not an empty list.
function isComplete(fields: ReadonlyMap<string, string | readonly string[]>): boolean {
  return [...fields.values()].every((value) => typeof value === 'string' || value.length > 0);
}
