import { findNamedSecrets, type TextRange } from './named-secrets.ts';
import { findPrivateKeys } from './private-keys.ts';
import { isPlaceholder, isRandom } from './secret-value.ts';
import { isSampleToken, matchTokens } from './token-shapes.ts';

/**
 * Finds the secrets of a text, in order and without overlaps. The work grows with the length of the text
 * alone, whatever is in it: texts come from repositories and models.
 */
export function findSecrets(text: string): readonly TextRange[] {
  if (text.length < SHORTEST) return [];
  if (!HAS_MARK.test(text)) return joinRanges(findTokens(text));
  return joinRanges([
    ...findTokens(text),
    ...findNamedSecrets(text),
    ...findHeaders(text),
    ...findLogins(text),
    ...findPrivateKeys(text),
  ]);
}

const SHORTEST = 6;
// One of them is in every assignment, header, login and private key, and in few paths and ids. Compiling
// the patterns that a text cannot match would take a short command as long as its work.
const HAS_MARK = /[:=> \t]/;

function joinRanges(ranges: readonly TextRange[]): readonly TextRange[] {
  const joined: [number, number][] = [];
  for (const [start, end] of ranges.toSorted((one, other) => one[0] - other[0])) {
    const last = joined.at(-1);
    if (last !== undefined && start < last[1]) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}

// The parts after the first are optional, so that a match takes each run of characters at once.
const WEB_TOKENS = /eyJ[\w-]{8,}(?:\.[\w-]{4,}){0,4}/g;
const IS_WEB_TOKEN = /^eyJ[\w-]+(?:\.eyJ[\w-]+\.[\w-]{8,}|(?:\.[\w-]+){4})/;

function findTokens(text: string): TextRange[] {
  const tokens = matchTokens(text).filter(([token]) => !isSampleToken(token));
  const webTokens = [...text.matchAll(WEB_TOKENS)].filter(([token]) => IS_WEB_TOKEN.test(token));
  return [...tokens, ...webTokens].map((match) => [match.index, match.index + match[0].length]);
}

// The last group is the secret. `Authorization` is followed by a scheme, then by one word or a list.
const AUTHORIZATIONS =
  /authorization(?:\\{0,3}["'`])?[ \t]{0,8}[:=][ \t]{0,8}(?:\\{0,3}["'`])?(?:[A-Za-z][\w-]{1,20}[ \t]{1,8})?([^\s"'`\\,]{6,8192}(?:,[^\r\n"'`\\]{0,8192})?)/gi;
const COOKIES =
  /(?:cookie(?:\\{0,3}["'`])?[ \t]{0,8}:|--cookie[ =])[ \t]{0,8}(?:\\{0,3}["'`])?([\w.!#$%&*+^|~-]{1,128}=[^\r\n"'`\\]{3,8192})/gi;
const BEARERS = /(?:bearer|basic)[ \t]{1,8}([\w.~+/=:-]{16,})/gi;

const HAS_HEADER = /authorization|cookie|bearer|basic/i;

function findHeaders(text: string): TextRange[] {
  if (!HAS_HEADER.test(text)) return [];
  return [
    ...findGroups(text, AUTHORIZATIONS, (value) => isCredential(value, 16)),
    ...findGroups(text, COOKIES, (value) => !isPlaceholder(value.slice(value.indexOf('=') + 1))),
    ...findGroups(text, BEARERS, (value) => isCredential(value, Number.POSITIVE_INFINITY)),
  ];
}

function isCredential(value: string, lettersFrom: number): boolean {
  if (isPlaceholder(value) || /[(){}[\]]/.test(value)) return false;
  return /\d/.test(value) || value.length >= lettersFrom;
}

/** Where the last group of each match stands, if its text is a secret. */
function findGroups(
  text: string,
  pattern: RegExp,
  isSecret: (group: string) => boolean,
): TextRange[] {
  const found: TextRange[] = [];
  for (const match of text.matchAll(pattern)) {
    const group = match.at(-1) ?? '';
    const end = match.index + match[0].length;
    if (isSecret(group)) found.push([end - group.length, end]);
  }
  return found;
}

const USER_INFO = /:\/\/([^\s/:@"'<>?#]{0,256})(?::([^\s/"'<>?#]{1,256}))?@/g;
// `curl -u name:password`, `sshpass -p password`, `mysql -ppassword`.
const USER_OPTIONS =
  /(?:^|\s)(?:-u|--user|--proxy-user)[ =]{0,2}(?:\\{0,3}["'])?[^\s:"'$/=-][^\s:"'$/]{0,63}:([^\s"'\\]{1,256})/g;
const PASSWORD_OPTIONS =
  /\bsshpass[ \t]{1,4}-p[ \t]{0,2}(?:\\{0,3}["'])?([^\s"'\\]{1,256})|\b(?:mysql|mysqldump|mysqladmin|mariadb)[ \t](?:[^\s|;&-]{1,64}[ \t]|-[^p\s|;&]{1,64}[ \t]){0,8}-p([^\s'"]{3,64})/g;

function findLogins(text: string): TextRange[] {
  return [
    ...(text.includes('://') ? findUserInfo(text) : []),
    ...(text.includes('-u') ? findUserOptions(text) : []),
    ...(text.includes('-p') ? findPasswordOptions(text) : []),
  ];
}

function findUserOptions(text: string): TextRange[] {
  const isSecret = (value: string) => !isPlaceholder(value) && !/^[\d:]+$/.test(value);
  return findGroups(text, USER_OPTIONS, isSecret);
}

function findPasswordOptions(text: string): TextRange[] {
  return [...text.matchAll(PASSWORD_OPTIONS)].flatMap((match): TextRange[] => {
    const value = match[1] ?? match[2] ?? '';
    const end = match.index + match[0].length;
    return isPlaceholder(value) ? [] : [[end - value.length, end]];
  });
}

const LONG_USER = 16;

/** Passwords of URLs, and tokens in the place of the user. */
function findUserInfo(text: string): TextRange[] {
  return [...text.matchAll(USER_INFO)].flatMap(({ index, 1: user = '', 2: password = '' }) => {
    const start = index + '://'.length;
    const passwordStart = start + user.length + 1;
    const found: TextRange[] = [];
    if (user.length >= LONG_USER && isRandom(user) && !isPlaceholder(user)) {
      found.push([start, start + user.length]);
    }
    if (password !== '' && !isPlaceholder(password)) {
      found.push([passwordStart, passwordStart + password.length]);
    }
    return found;
  });
}
