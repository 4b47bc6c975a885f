import { findClosestName } from './did-you-mean.ts';

/** Why a text is not JSON: where, counted from 1, and what is probably meant there. */
export interface JsonMistake {
  readonly offset: number;
  readonly line: number;
  readonly column: number;
  readonly guess: string;
}

/** What a text may have although JSON does not. */
interface Tolerance {
  readonly comments?: boolean;
  readonly trailingCommas?: boolean;
}

/** Formats the mistake of a text that could not be parsed; `otherwise` is the parser's own message. */
export function explainJsonMistake(text: string, otherwise: string): string {
  if (text.trim() === '') return 'it is empty';
  const mistake = findJsonMistake(text);
  return mistake === null ? otherwise : formatJsonMistake(mistake);
}

export function formatJsonMistake({ line, column, guess }: JsonMistake): string {
  return `line ${line}, column ${column}: ${guess}`;
}

/**
 * Finds the first mistake of a text; null when it has none. The parsers of Node and of jsonc-parser say only that a
 * character is unexpected, and that of Node often not even where.
 */
export function findJsonMistake(text: string, tolerance: Tolerance = {}): JsonMistake | null {
  const found = new MistakeFinder(text, tolerance).find();
  return found === null ? null : { ...found, ...locateOffset(text, found.offset) };
}

/** The place of an offset, counted from 1. */
export function locateOffset(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

type Found = Pick<JsonMistake, 'offset' | 'guess'>;

/** What may stand at the next token. `first-…` also allows the end of the empty array or object. */
type Expected = 'first-key' | 'key' | 'colon' | 'first-value' | 'value' | 'comma' | 'end';

interface StringToken {
  readonly start: number;
  /** After its closing quote. */
  readonly end: number;
  readonly isKey: boolean;
}

// Sticky: each is applied at the current offset only.
const BLANKS = /[ \t\r\n]*/y;
const COMMENT = /\/\/[^\r\n]*|\/\*[\s\S]*?\*\//y;
const WORD = /(?:(?!\/[/*])[^\s",:;{}[\]])+/y;
const PLAIN_CHARACTERS = /(?:[^"\\\p{Cc}]|[\u007F-\u009F])*/uy;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y;

const LITERAL = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
const CLOSERS: Readonly<Record<string, string>> = { '{': '}', '[': ']' };

/** Reads a text token by token, with a stack instead of recursion: texts may be nested deeply. */
class MistakeFinder {
  readonly #text: string;
  readonly #tolerance: Tolerance;
  /** The brackets that would close what is open, outermost first. */
  readonly #closers: string[] = [];
  #at = 0;
  #expected: Expected = 'value';
  #lastString: StringToken | null = null;
  #isAfterColon = false;

  constructor(text: string, tolerance: Tolerance) {
    this.#text = text;
    this.#tolerance = tolerance;
  }

  find(): Found | null {
    for (;;) {
      this.#skipBlanks();
      if (this.#at >= this.#text.length) {
        return this.#expected === 'end' ? null : this.#describe(this.#guessEnd());
      }
      const mistake = this.#readToken();
      if (mistake !== null) return mistake;
    }
  }

  #skipBlanks(): void {
    do this.#at += this.#match(BLANKS).length;
    while (this.#tolerance.comments === true && this.#skip(this.#match(COMMENT)));
  }

  #skip(token: string): boolean {
    this.#at += token.length;
    return token !== '';
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text)?.[0] ?? '';
  }

  #readToken(): Found | null {
    const character = this.#text[this.#at] ?? '';
    switch (character) {
      case '{':
      case '[':
        return this.#open(character);
      case '}':
      case ']':
        return this.#close(character);
      case '"':
        return this.#readString();
      case ':':
        return this.#readColon();
      case ',':
        return this.#readComma();
      default:
        return this.#readLiteral();
    }
  }

  #open(bracket: '{' | '['): Found | null {
    if (!this.#expectsValue()) return this.#describe(this.#guessSeparator());
    this.#closers.push(CLOSERS[bracket] ?? '');
    this.#move(1, bracket === '{' ? 'first-key' : 'first-value');
    return null;
  }

  #close(bracket: string): Found | null {
    const closer = this.#closers.at(-1);
    if (closer === undefined) return this.#describe(`one ${bracket} too many`);
    if (closer !== bracket) return this.#describe(`${closer} expected instead of ${bracket}`);
    const isAfterComma =
      this.#expected === 'key' || (this.#expected === 'value' && !this.#isAfterColon);
    const isAllowed = ['comma', 'first-key', 'first-value'].includes(this.#expected);
    if (isAfterComma && this.#tolerance.trailingCommas !== true) {
      return this.#describe('a comma after the last element');
    }
    if (!isAllowed && !isAfterComma) return this.#describe(this.#guessMissingValue());
    this.#closers.pop();
    this.#move(1, this.#afterValue());
    return null;
  }

  #readString(): Found | null {
    const isKey = this.#expected === 'first-key' || this.#expected === 'key';
    if (!isKey && !this.#expectsValue()) {
      return this.#describe(this.#guessQuote() ?? this.#guessSeparator());
    }
    const start = this.#at;
    this.#at += 1;
    for (;;) {
      this.#skip(this.#match(PLAIN_CHARACTERS));
      const next = this.#text[this.#at];
      if (next === '"') break;
      if (next === '\\' && this.#skip(this.#match(ESCAPE))) continue;
      return this.#describe(this.#guessInString(start, isKey));
    }
    this.#move(1, isKey ? 'colon' : this.#afterValue());
    this.#lastString = { start, end: this.#at, isKey };
    return null;
  }

  #readColon(): Found | null {
    if (this.#expected !== 'colon') return this.#describe(this.#guessColon());
    this.#move(1, 'value');
    this.#isAfterColon = true;
    return null;
  }

  #readComma(): Found | null {
    if (this.#expected !== 'comma') {
      const needsValue = this.#isAfterColon || this.#expected === 'colon';
      if (this.#expected === 'end') return this.#describe('a comma after the end of the JSON');
      return this.#describe(needsValue ? this.#guessMissingValue() : 'one comma too many');
    }
    this.#move(1, this.#closers.at(-1) === '}' ? 'key' : 'value');
    return null;
  }

  #readLiteral(): Found | null {
    const word = this.#match(WORD);
    if (!this.#expectsValue() || !LITERAL.test(word)) {
      return this.#describe(this.#guessCharacter() ?? this.#guessQuote() ?? this.#guessWord(word));
    }
    this.#move(word.length, this.#afterValue());
    return null;
  }

  #move(length: number, expected: Expected): void {
    this.#at += length;
    this.#expected = expected;
    this.#isAfterColon = false;
  }

  #expectsValue(): boolean {
    return this.#expected === 'value' || this.#expected === 'first-value';
  }

  #afterValue(): Expected {
    return this.#closers.length === 0 ? 'end' : 'comma';
  }

  #describe(guess: string): Found {
    return { offset: this.#at, guess };
  }

  #guessEnd(): string {
    const closers = this.#closers.toReversed().join('');
    const needsValue = this.#isAfterColon || this.#expected === 'colon';
    const missing = [...(needsValue ? ['a value'] : []), ...(closers === '' ? [] : [closers])];
    return missing.length === 0 ? 'only a comment' : `missing ${missing.join(' and ')} at the end`;
  }

  #guessMissingValue(): string {
    return this.#expected === 'colon'
      ? 'missing colon and value after the key'
      : 'missing value after the colon';
  }

  /** For the beginning of a value or key where something else must stand first. */
  #guessSeparator(): string {
    if (this.#expected === 'colon') return 'missing colon after the key';
    if (this.#expected === 'comma') return 'missing comma before this';
    return this.#expected === 'end' ? 'more than one JSON value' : 'a key must be a string';
  }

  #guessColon(): string {
    if (this.#isAfterColon) return 'one colon too many';
    if (this.#expected === 'comma' && this.#closers.at(-1) === ']') {
      return 'a key in an array; only objects ({ }) have keys';
    }
    return this.#expected === 'end' ? 'a key without { } around it' : 'a colon without a key';
  }

  /** A quote that was left out makes the parser take the next opening quote for a closing one. */
  #guessQuote(): string | null {
    const { start, end, isKey } = this.#lastString ?? NO_STRING;
    if (end !== this.#at) return null;
    const name = findSwallowedName(this.#text.slice(start + 1, end - 1), isKey);
    if (name !== null) return `missing quote after ${name}`;
    return this.#text[this.#at] === '"' ? null : String.raw`a quote inside a string; write \"`;
  }

  #guessInString(start: number, isKey: boolean): string {
    const character = this.#text[this.#at] ?? '';
    if (character === '\\') return guessEscape(this.#text.slice(this.#at, this.#at + 2));
    if (character === '\t') return String.raw`a tab inside a string; write \t`;
    if (!/^[\r\n]?$/.test(character)) {
      return `a control character (${formatCodePoint(character)}) inside a string`;
    }
    const name = findSwallowedName(this.#text.slice(start + 1, this.#at), isKey, true);
    if (name !== null) return `missing quote after ${name}`;
    return 'missing quote at the end of a string';
  }

  /** A character that has a look-alike in JSON, or none. */
  #guessCharacter(): string | null {
    const rest = this.#text.slice(this.#at, this.#at + 8);
    const known = LOOK_ALIKES.find(([pattern]) => pattern.test(rest));
    if (known !== undefined) return known[1];
    if (/^[;=]/.test(rest)) return this.#guessOperator(rest);
    return /^\s|^[\p{Cf}\p{Z}]/u.test(rest)
      ? `an invisible character (${formatCodePoint(rest)}); only plain blanks may stand here`
      : null;
  }

  #guessOperator(rest: string): string {
    if (this.#expected === 'colon') return `${rest[0]} instead of :`;
    return this.#expected === 'comma' ? `${rest[0]} instead of ,` : `unexpected ${rest[0]}`;
  }

  #guessWord(word: string): string {
    const name = shorten(word);
    if (this.#text[this.#at + word.length] === '"') return `missing quote before ${name}`;
    if (this.#expected === 'colon') return 'missing colon after the key';
    if (this.#expected === 'comma') return 'missing comma before this';
    if (this.#expected === 'end') return 'text after the end of the JSON';
    const meant = this.#expectsValue() ? findLiteral(word) : null;
    if (meant !== null) return `${name} is not JSON; write ${meant}`;
    if (this.#expectsValue() && /^[-+.]?\d/.test(word)) return `${name} is not a number of JSON`;
    return this.#closers.length === 0
      ? `it starts with ${name}, which is not JSON`
      : `missing quotes around ${name}`;
  }
}

const NO_STRING: StringToken = { start: 0, end: -1, isKey: false };

const LOOK_ALIKES: readonly (readonly [RegExp, string])[] = [
  [/^'/, 'single quotes; JSON has double quotes'],
  [/^`/, 'backquotes; JSON has double quotes'],
  [/^[“”„«»‘’]/, 'typographic quotes; JSON has straight ones (")'],
  [/^(?:\/\/|\/\*|#)/, 'a comment, which JSON does not have'],
  [/^(?:<{7}|={7}|>{7})/, 'a conflict marker of git'],
  [/^[\p{Cc}\uFFFD]/u, 'it is not text in UTF-8'],
];

const FOREIGN_LITERALS = new Map([
  ['none', 'null'],
  ['nil', 'null'],
  ['undefined', 'null'],
  ['nan', 'null'],
  ['infinity', 'null'],
  ['yes', 'true'],
  ['no', 'false'],
]);

/** The literal of JSON that a word of another language, or a mistyped one, means. */
function findLiteral(word: string): string | null {
  const lowerCase = word.toLowerCase();
  const foreign = FOREIGN_LITERALS.get(lowerCase.replace(/^-/, ''));
  return foreign ?? findClosestName(lowerCase, ['true', 'false', 'null']);
}

/**
 * The name after which a quote is missing, in what was taken for one string: `matcher: ` of
 * `"matcher: "Bash"`, `Bash, ` of `"Bash, "hooks"`. `isLine`: the string did not end on its line.
 */
function findSwallowedName(text: string, isKey: boolean, isLine = false): string | null {
  const pattern = isKey ? /^([^\s":,]+)\s*:/ : /^(\S.*?)\s*[,}\]][\s,}\]]*$/;
  const name = pattern.exec(text)?.[1] ?? (isLine ? text.trim() : '');
  return name === '' || name.length > LONGEST_NAME ? null : name;
}

function guessEscape(escape: string): string {
  if (escape === '\\') return 'missing quote at the end of a string';
  if (escape === String.raw`\u`) return String.raw`\u needs four hexadecimal digits`;
  return `${escape} is not an escape of JSON; write \\${escape}`;
}

const LONGEST_NAME = 40;

function shorten(word: string): string {
  return word.length <= LONGEST_NAME ? word : `${word.slice(0, LONGEST_NAME)}…`;
}

function formatCodePoint(text: string): string {
  return `U+${(text.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
