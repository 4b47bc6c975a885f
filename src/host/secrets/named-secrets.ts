import { isPlaceholder, isPlainWord, isRandom } from './secret-value.ts';

export type TextRange = readonly [start: number, end: number];

// A name that ends in one of these, then what stands between a name and its value:
// `"name": `, `name=`, `name := `, `name: string = `, `<name>`, `--name `, `name: X` with `value:` after it.
const NAMES =
  'passw(?:or)?d|passphrase|passcode|pass|pwd|secret|token|key(?:_id)?|auth|credentials?|pat';
const SEPARATORS = [
  String.raw`\??:[ \t]{0,4}&?[A-Za-z][\w<>.|[\] ]{0,30}=[ \t]{0,8}(?=["'\x60])`,
  String.raw`(?:\\{0,3}["'\x60])?\]?[ \t]{0,16}(?::=|=>|={1,3}|:)[ \t]{0,16}`,
  String.raw`(?:\\{0,3}["'])?,?(?:\s|\\n){1,40}(?:\\{0,3}["'])?value(?:\\{0,3}["'])?[ \t]{0,4}[:=][ \t]{0,8}`,
  String.raw`>`,
  String.raw`[ \t]{1,4}`,
].join('|');
const HAS_NAME = new RegExp(NAMES, 'i');
const NAME_END = new RegExp(`(?:${NAMES})$`, 'i');
const ASSIGNMENTS = new RegExp(`(${NAMES})(${SEPARATORS})`, 'gi');

const MAX_NAME = 64;

/** Finds the values that a text gives to names such as `API_TOKEN`, `password` or `X-Api-Key`. */
export function findNamedSecrets(text: string): TextRange[] {
  if (!HAS_NAME.test(text)) return [];
  const found: TextRange[] = [];
  ASSIGNMENTS.lastIndex = 0;
  for (let match = ASSIGNMENTS.exec(text); match !== null; match = ASSIGNMENTS.exec(text)) {
    const [all, keyword = '', separator = ''] = match;
    const name = text.slice(findNameStart(text, match.index), match.index + keyword.length);
    const before = text.slice(Math.max(0, match.index - MAX_NAME), match.index);
    if (!isSeparator(separator, name, before)) continue;
    const range = findValue(text, match.index + all.length, { name, keyword, separator });
    if (range === null) continue;
    found.push(range);
    // What is redacted is not searched again.
    ASSIGNMENTS.lastIndex = range[1];
  }
  return found;
}

/** Whether a value of this name, such as a field of an object, is a secret. */
export function isNamedSecret(name: string, text: string): boolean {
  const keyword = NAME_END.exec(name)?.[0];
  if (keyword === undefined) return isHeaderWithSecret(name, text);
  const value = { text, isQuoted: true, isLast: true, isWord: true, isAdjacent: true };
  return isSecretValue({ name, keyword, ...value });
}

function isHeaderWithSecret(name: string, text: string): boolean {
  if (!/^(?:proxy-)?authorization$|^(?:set-)?cookie$/i.test(name)) return false;
  return text.length >= 6 && !isPlaceholder(text.replace(/^[A-Za-z][\w-]{1,20} +/, ''));
}

function findNameStart(text: string, keywordStart: number): number {
  let start = keywordStart;
  while (start > 0 && keywordStart - start < MAX_NAME && /[\w.-]/.test(text[start - 1] ?? '')) {
    start -= 1;
  }
  const isEscape = text[start - 1] === '\\' && /[nrt]/.test(text[start] ?? '');
  return isEscape ? start + 1 : start;
}

/** A space separates only after an option, or in a `.netrc`; `>` only after a tag. */
function isSeparator(separator: string, name: string, before: string): boolean {
  if (separator === '>') return /<[\w.:-]*$/.test(before);
  if (separator.trim() !== '') return true;
  return name.startsWith('--') || (name === 'password' && /\blogin \S+ $/.test(before));
}

interface Naming {
  readonly name: string;
  readonly keyword: string;
}

interface NamedValue extends Naming {
  /** The value, or as much of it as is needed to judge it. */
  readonly text: string;
  readonly isQuoted: boolean;
  /** Nothing but a comment follows it on its line. */
  readonly isLast: boolean;
  /** A space or the end follows it, rather than `,` or `)` as in code. */
  readonly isWord: boolean;
  /** No space stands between name and value. */
  readonly isAdjacent: boolean;
}

const OPENING_QUOTE = /\\{0,3}["'`]/y;
// A value is judged by its beginning and redacted to its end, so that no text is read many times.
const MAX_JUDGED = 256;
const QUOTED = /[^\r\n]{0,256}/y;
// A backslash belongs to the value unless it escapes a line end or a quote in JSON.
const BARE = /(?:[^\s"'`\\]|\\(?![nrtu"'`\\])){0,256}/y;
const BARE_REST = /[^\s"'`\\&<]*/y;
const WORD_END = /\s|$/y;
const LINE_END = /[ \t]{0,8}(?:#|["'`]|\\[nr"]|\r?\n|$)/y;

/** Null when the value is no secret. */
function findValue(
  text: string,
  from: number,
  { name, keyword, separator }: Naming & { readonly separator: string },
): TextRange | null {
  const isAdjacent = separator === separator.trim();
  const quote = matchAt(OPENING_QUOTE, text, from);
  if (quote !== null) return findQuotedValue(text, from + quote.length, quote, { name, keyword });
  const before = text[from - separator.length - name.length - 1];
  const beginning = matchAt(BARE, text, from) ?? '';
  const value = trimValue(beginning, name, separator, before);
  const end = from + value.length;
  const isLast = matchAt(LINE_END, text, end) !== null;
  const isWord = matchAt(WORD_END, text, end) !== null && separator.includes('=');
  const isSecret = isSecretValue({
    name,
    keyword,
    text: value,
    isQuoted: false,
    isLast,
    isWord,
    isAdjacent,
  });
  if (!isSecret) return null;
  const isWhole = value.length < MAX_JUDGED;
  return [from, isWhole ? end : end + (matchAt(BARE_REST, text, end) ?? '').length];
}

function findQuotedValue(
  text: string,
  from: number,
  quote: string,
  naming: Naming,
): TextRange | null {
  const beginning = matchAt(QUOTED, text, from) ?? '';
  const closing = findClosingQuote(beginning, quote);
  const value = closing === -1 ? beginning : beginning.slice(0, closing);
  const isSecret = isSecretValue({
    ...naming,
    text: value,
    isQuoted: true,
    isLast: true,
    isWord: true,
    isAdjacent: true,
  });
  if (!isSecret) return null;
  if (closing !== -1 || beginning.length < MAX_JUDGED) return [from, from + value.length];
  const end = text.indexOf(quote, from + MAX_JUDGED);
  return [from, end === -1 ? text.length : end];
}

function matchAt(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}

/** The same quote with as many backslashes; -1 without one. */
function findClosingQuote(text: string, quote: string): number {
  let at = text.indexOf(quote);
  while (at > 0 && hasOddBackslashes(text, at)) at = text.indexOf(quote, at + 1);
  return at;
}

function hasOddBackslashes(text: string, before: number): boolean {
  let count = 0;
  while (text[before - count - 1] === '\\') count += 1;
  return count % 2 === 1;
}

/** In a query a value ends at `&`, in a tag at `<`, elsewhere than in the environment at `;` or `&name=`. */
function trimValue(
  bare: string,
  name: string,
  separator: string,
  before: string | undefined,
): string {
  const stop = findStop(name, separator, before);
  const end = stop === null ? -1 : bare.search(stop);
  return (end === -1 ? bare : bare.slice(0, end)).replace(/[),;}\]]{1,8}$/, '');
}

function findStop(name: string, separator: string, before: string | undefined): RegExp | null {
  if (before === '?' || before === '&') return /[&#]/;
  if (separator === '>') return /</;
  return isVariableName(name) ? null : /;|&(?=[\w.-]+=)/;
}

const STRONG_KEYS =
  /(?:api|access|secret|private|auth|encryption|encrypt|master|account|signing|license|deploy|service|admin|client|webhook|app|application|subscription|ssh|jwt|hmac|session|storage)[-_.]?key(?:_id)?$/i;
const HARMLESS_KEYS =
  /(?:public|primary|foreign|cache|sort|partition|unique|hash|object|row|map|group|index|search|lookup|hot|arrow|shift|idempotency|translation|message|registry|publishable|composite|natural|surrogate|dedup|routing|ssh_?host|gpg|config|setting|json|yaml|dict|react|query|state|store|event|tab|enter|escape|function|meta|ctrl|alt|any|left|right|up|down)[-_.]?key(?:_id)?$/i;
const HARMLESS_TOKENS =
  /(?:eos|bos|pad|unk|sep|cls|mask|stop|max|min|num|total|cancellation|cancel|next|page|continuation|sync|per|input|output)[-_]?token$/i;

function isSecretValue(value: NamedValue): boolean {
  const { name, text } = value;
  if (text === '' || isPlaceholder(text) || isEcho(name, text)) return false;
  switch (rateName(value)) {
    case 'strong':
      return isStrongSecret(value);
    case 'weak':
      return isWeakSecret(value);
    default:
      return false;
  }
}

/** `token: token`, `password=user.password`. */
function isEcho(name: string, text: string): boolean {
  const [one, other] = [name, text].map((each) => each.toLowerCase().replaceAll(/[^a-z]/g, ''));
  return (
    one !== undefined &&
    other !== undefined &&
    (one.endsWith(other) || other.endsWith(one)) &&
    !/\d/.test(text)
  );
}

function rateName({ name, keyword }: NamedValue): 'strong' | 'weak' | null {
  const kind = keyword.toLowerCase();
  const prefix = name.slice(0, name.length - keyword.length);
  const isWholeWord =
    prefix === '' ||
    !/[A-Za-z0-9]$/.test(prefix) ||
    (/^[A-Z][a-z]/.test(keyword) && /[a-z0-9]$/.test(prefix));
  if (/^passw|^passphrase|^passcode|^pwd/.test(kind)) return 'strong';
  if (kind.startsWith('key')) return rateKey(name, prefix, isWholeWord);
  if (kind === 'token' && HARMLESS_TOKENS.test(name)) return null;
  const hasPrefix = /[A-Za-z0-9]/.test(prefix);
  if (kind === 'secret' || kind === 'token') {
    return hasPrefix || name.startsWith('--') || isVariableName(name) ? 'strong' : 'weak';
  }
  if (!isWholeWord) return null;
  if (kind === 'pass') return hasPrefix ? 'strong' : 'weak';
  return kind === 'pat' && !isVariableName(name) ? null : 'weak';
}

function rateKey(name: string, prefix: string, isWholeWord: boolean): 'strong' | 'weak' | null {
  if (HARMLESS_KEYS.test(name)) return null;
  if (STRONG_KEYS.test(name)) return 'strong';
  if (!isWholeWord) return null;
  return isVariableName(name) && prefix !== '' ? 'strong' : 'weak';
}

function isVariableName(name: string): boolean {
  return /^[A-Z][A-Z0-9_]*$/.test(name);
}

function isStrongSecret(value: NamedValue): boolean {
  const { text, keyword, isQuoted, name } = value;
  const isPassword = /^p/i.test(keyword);
  if (!isPassword && text.length < 6) return false;
  if (/^\d+$/.test(text)) return isPassword ? text.length >= 4 : text.length >= 10;
  if (isQuoted) return !/\s/.test(text) || !isLabel(text);
  if (isCode(text)) return false;
  if (!isPlainWord(text)) return true;
  if (value.isAdjacent && (isVariableName(name) || value.isWord)) return true;
  // A type or another variable is written in the same way.
  if (/[A-Z_]/.test(text)) return false;
  return value.isLast;
}

const LABEL_WORDS =
  /\b(?:password|token|key|secret|enter|your|required|invalid|must|please|forgot|confirm|the|is|not|no|for|of|to|and|or)\b/i;

/** `password: "Enter your password"`. */
function isLabel(text: string): boolean {
  return !/\d/.test(text) && LABEL_WORDS.test(text);
}

function isWeakSecret({ name, text, isQuoted, keyword }: NamedValue): boolean {
  const isBareKey = /^key/i.test(keyword);
  if (/\s/.test(text) || (!isQuoted && isCode(text))) return false;
  if (isBareKey) {
    return text.length >= 20 && isRandom(text) && /[A-Z]/.test(text) && /[a-z]/.test(text);
  }
  if (/^[a-z]+(?:_[a-z0-9]+)+$/.test(text) && name !== '' && !/\d{3}/.test(text)) return false;
  return text.length >= 8 && isRandom(text);
}

const CODE =
  /[()[\]{}|]|^[&*!@^]|^(?:new|await|async|function|lambda|return|typeof)\b|^[A-Za-z_$]+(?:(?:\??\.|::|->)[A-Za-z_$]+)+$/;

/** An expression rather than a value. */
function isCode(text: string): boolean {
  return CODE.test(text);
}
