import { findPathInside } from '../../../base/paths.ts';

export type GrepMode = 'content' | 'files_with_matches' | 'count';

export interface GrepInput {
  readonly pattern: string;
  /** Absolute; null means the working directory. */
  readonly path: string | null;
  readonly glob: string | null;
  readonly type: string | null;
  readonly mode: GrepMode;
  readonly before: number | null;
  readonly after: number | null;
  readonly around: number | null;
  readonly hasLineNumbers: boolean;
  readonly ignoresCase: boolean;
  readonly onlyMatching: boolean;
  readonly isMultiline: boolean;
  /** 0 means all. */
  readonly limit: number;
  readonly offset: number;
}

const MAX_COLUMNS = 500;

/** Everything that ripgrep is told. A user's own configuration does not count. */
export function searchArgs(input: GrepInput, cwd: string): readonly string[] {
  return [
    '--no-config',
    '--no-messages',
    '--color=never',
    '--hidden',
    `--max-columns=${MAX_COLUMNS}`,
    '--max-columns-preview',
    // Page after page needs the same order each time.
    '--sort=path',
    ...modeArgs(input),
    ...(input.ignoresCase ? ['--ignore-case'] : []),
    ...(input.isMultiline ? ['--multiline', '--multiline-dotall'] : []),
    ...(input.type === null ? [] : [`--type=${input.type}`]),
    ...splitGlobs(input.glob ?? '').map((glob) => `--glob=${glob}`),
    // The last one wins.
    ...VERSION_CONTROL.map((name) => `--glob=!${name}`),
    `--regexp=${input.pattern}`,
    '--',
    placeArg(input.path ?? cwd, cwd),
  ];
}

const VERSION_CONTROL = ['.git', '.svn', '.hg', '.bzr', '.jj'];

/** A NUL, which tells where a file's name ends; `found-lines.ts` takes it away. */
const FIELD_END = String.raw`\x00`;

function modeArgs(input: GrepInput): readonly string[] {
  if (input.mode === 'files_with_matches') return ['--files-with-matches'];
  if (input.mode === 'count') return ['--count', '--with-filename'];
  return [
    '--no-heading',
    '--with-filename',
    `--field-match-separator=${FIELD_END}:`,
    `--field-context-separator=${FIELD_END}-`,
    input.hasLineNumbers ? '--line-number' : '--no-line-number',
    ...(input.onlyMatching ? ['--only-matching'] : []),
    ...contextArgs(input),
  ];
}

function contextArgs({ before, after, around }: GrepInput): readonly string[] {
  const above = before ?? around;
  const below = after ?? around;
  return [
    ...(above === null ? [] : [`--before-context=${above}`]),
    ...(below === null ? [] : [`--after-context=${below}`]),
  ];
}

/** `*.ts, *.tsx` and `*.ts *.tsx` are two; `*.{ts,tsx}` is one. */
function splitGlobs(globs: string): readonly string[] {
  return globs
    .split(/\s+/)
    .flatMap((part) => (/\{.*\}/.test(part) ? [part] : part.split(',')))
    .filter((part) => part !== '');
}

/** What is inside is named from here, so that it is found under that name. */
function placeArg(place: string, cwd: string): string {
  const inside = findPathInside(cwd, place);
  return inside === null ? place : `./${inside}`;
}
