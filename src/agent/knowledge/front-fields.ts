import { messageOf } from '../../base/errors.ts';
import { splitFrontMatter } from '../../base/front-matter.ts';
import { isRecord } from '../../base/json.ts';
import { parsePlainFields } from './plain-fields.ts';

/** A markdown file of a skill, a command, a rule or a sub-agent. */
export interface FrontFields {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: string;
  /** What is wrong with the fields; the lines that could be read count all the same. */
  readonly problem: string | null;
}

/** Never throws, whatever the text is. */
export async function readFrontFields(markdown: string): Promise<FrontFields> {
  const { yaml, body } = splitFrontMatter(markdown);
  if (yaml === null) return { fields: {}, body, problem: null };
  const plain = parsePlainFields(yaml);
  if (plain !== null) return { fields: plain, body, problem: null };
  return { ...(await parsedFields(yaml)), body };
}

export function textField({ fields }: FrontFields, key: string): string | null {
  const value = fields[key];
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

/** A list, or one text with commas between its entries; null when the key is absent. */
export function listField({ fields }: FrontFields, key: string): readonly string[] | null {
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

async function parsedFields(yaml: string): Promise<Omit<FrontFields, 'body'>> {
  const { parse } = await import('yaml');
  try {
    const value: unknown = parse(yaml, { maxAliasCount: MAX_ALIASES, logLevel: 'error' });
    if (isRecord(value)) return { fields: value, problem: null };
    return { fields: {}, problem: 'expected lines such as "name: value" in its front matter' };
  } catch (error) {
    return { fields: looseFields(yaml), problem: sayFirstLine(error) };
  }
}

// People write `description: Use this when: …`, which is no YAML and still clear.
function looseFields(yaml: string): Record<string, string> {
  const lines = yaml.matchAll(/^([A-Za-z][\w-]*):[ \t]*(\S.*?)[ \t]*$/gm);
  return Object.fromEntries([...lines].map(([, key = '', value = '']) => [key, value]));
}

function sayFirstLine(error: unknown): string {
  const [reason = ''] = messageOf(error).split('\n');
  return `its front matter is no YAML (${reason}), so it was read line by line`;
}
