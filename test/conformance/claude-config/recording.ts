import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isRecord } from '../../../src/base/json.ts';
import type { Act } from './scripts.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface Recording {
  readonly events: Readonly<
    Record<string, readonly { readonly mode: string; readonly stdin: Fields }[]>
  >;
  readonly vectors: Readonly<Record<string, { readonly what: string; readonly observed: unknown }>>;
}

/** What the real program was seen to do. */
export const RECORDING: Recording = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'claude-payloads.json'), 'utf8'),
);

export const GROUP_NAMES = Object.keys(RECORDING.vectors);

export function observed(group: string): unknown {
  return RECORDING.vectors[group]?.observed;
}

export function fieldsAt(value: unknown, ...keys: readonly string[]): Fields {
  const found = keys.reduce<unknown>(
    (each, key) => (isRecord(each) ? each[key] : undefined),
    value,
  );
  if (!isRecord(found)) throw new TypeError(`the recording has no object at ${keys.join('.')}`);
  return found;
}

export function listAt(value: unknown, ...keys: readonly string[]): readonly unknown[] {
  const found = keys.reduce<unknown>(
    (each, key) => (isRecord(each) ? each[key] : undefined),
    value,
  );
  if (!Array.isArray(found)) throw new TypeError(`the recording has no list at ${keys.join('.')}`);
  return found;
}

/** The hook of a case, in the groups that hold them: `hook`, or `a` and `b`. */
export function actAt(group: string, name: string, key: string): Act {
  const act: Act & { sleep?: number } = { ...fieldsAt(observed(group), name, key) };
  return act;
}

/** The names of all cases of a group. */
export function namedCases(group: string): readonly string[] {
  const find = NAMES[group];
  if (find === undefined) throw new TypeError(`nobody said how the cases of ${group} are named`);
  return find(observed(group));
}

type FindNames = (observed: unknown) => readonly string[];

const keys: FindNames = (value) => Object.keys(fieldsAt(value));
const keysWithout =
  (...left: readonly string[]): FindNames =>
  (value) =>
    keys(value).filter((key) => !left.includes(key));
const keysOf =
  (key: string): FindNames =>
  (value) =>
    Object.keys(fieldsAt(value, key));
const texts: FindNames = (value) => listAt(value).map(String);
const namesOf =
  (...place: readonly string[]): FindNames =>
  (value) =>
    listAt(value, ...place).map((each) => String(fieldsAt(each)['n']));
/** The lists' entries at this index, each once. */
const columns =
  (index: number, ...place: readonly string[]): FindNames =>
  (value) =>
    unique(listAt(value, ...place).map((each) => String(listAt(each)[index])));
const fixed =
  (...names: readonly string[]): FindNames =>
  () =>
    names;

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}

function joined(...all: readonly FindNames[]): FindNames {
  return (value) => unique(all.flatMap((find) => find(value)));
}

const NAMES: Readonly<Record<string, FindNames>> = {
  '03-pre-cases': keys,
  '05-multi': keys,
  '06-post': keysWithout('final'),
  '07-ups': keys,
  '04-pre-stop': (value) => listAt(value, 'recs').map((each) => String(each).split(' ')[1] ?? ''),
  '08-sessionstart': namesOf(),
  '09-stop': namesOf(),
  '11-matchers': texts,
  '12-if': joined((value) => listAt(value, 't').map(String), fixed('stopIf', 'stopNoIf')),
  '12b-if-more': texts,
  '13-dedupe': keys,
  '14-dedupe-order': (value) => listAt(value, 'survived').map(String),
  '15-timeout': joined(columns(1, 'recs'), (value) => listAt(value, 'files').map(String)),
  '16-shell': fixed(
    'shell form',
    'exec form',
    'exec form on PATH',
    'literal-subst',
    'single-quoted',
    'no terminal',
    'shell0',
    'double bracket',
    'missing in shell form',
    'missing in exec form',
  ),
  '17-envfile': joined(columns(1, 'env'), fixed('seen', 'hookEnv')),
  '18b-invalid-each': keys,
  '19-invalid-json': joined(
    (value) => listAt(value, 'ran').map(String),
    fixed('settings.json', 'settings.local.json', 'files that are not read'),
  ),
  '20-subdir': columns(0),
  '21-http': joined(keysOf('per'), fixed('first', 'stop')),
  '22-prompt': fixed('ok', 'cont', 'fence', 'garbage', 'no'),
  '23-agent': fixed('verify'),
  '25-onfailure': joined(keysOf('per'), fixed('ups')),
  '26-plugin': joined(
    columns(1, 'recs'),
    fixed('dup', 'nonplug', 'plug4', 'plug5', 'user_config unset', 'user_config in shell form'),
  ),
  '27-frontmatter': columns(1),
  '28-permreq': keysOf('per'),
  '29-permrules': keysOf('per'),
  '30-modes': (value) => listAt(value, 'modes').map((each) => listAt(each).slice(0, 2).join(' ')),
  '35-modelswitch': joined(columns(0, 'ctl'), columns(4, 'recs')),
  '37-disable-managed': keys,
  '38-caps': fixed(
    'exit2 stderr',
    'deny reason',
    'systemMessage',
    'additionalContext',
    'block reason',
    'tool output',
  ),
  '39-misc-out': fixed(
    'failure context',
    'failure exit2',
    'failure block',
    'batchctx',
    'batch stop',
    'DISPLAYED',
  ),
  '40-precompact': fixed('exit2', 'json block', 'stdout'),
  '42-extra': joined(keysOf('per'), fixed('contdeny')),
  '43-reload': columns(1),
  '46-denyfmt': columns(0),
  '47-elicit2': fixed('accept', 'decline by Elicitation', 'decline by ElicitationResult'),
  '49-misc2': namesOf('runs'),
  '51-contfalse': columns(0, 'res'),
};
