import { readdirSync } from 'node:fs';
import path from 'node:path';
import { isCommandMatch } from './bash-rule.ts';
import { UNKNOWN } from './named-words.ts';

/** How much may still be looked at for one line; what is left out makes the reading incomplete. */
export interface PathBudget {
  words: number;
  directories: number;
  isSpent: boolean;
}

const MAX_SPELLINGS = 200;

/** Whatever a word may name: itself, what follows `=` or an option in it, what its pattern finds. */
export function listPathsInWord(word: string, cwd: string, budget: PathBudget): readonly string[] {
  const pieces = [word, ...word.split(/[=:,@\s"'`()<>|&;]+/), ...afterOption(word)];
  const known = new Set(pieces.filter((piece) => piece !== '' && !piece.includes(UNKNOWN)));
  const spellings = [...known].slice(0, Math.max(0, budget.words)).flatMap(expandBraces);
  budget.isSpent ||= known.size > budget.words;
  budget.words -= spellings.length;
  return spellings.flatMap((each) => [each, ...findAll(each, cwd, budget)]);
}

/** `-r./a.js` holds a path. */
function afterOption(word: string): readonly string[] {
  return /^-\w./.test(word) ? [word.slice(2)] : [];
}

/** `.e{nv,x}` → `.env`, `.ex` */
function expandBraces(word: string): readonly string[] {
  let words = [word];
  for (let round = 0; round < 5; round += 1) {
    const next = words.flatMap(expandFirstBrace);
    if (next.length === words.length) return next;
    words = next.slice(0, MAX_SPELLINGS);
  }
  return words;
}

function expandFirstBrace(word: string): readonly string[] {
  const brace = /\{([^{}]*,[^{}]*)\}/.exec(word);
  if (brace === null) return [word];
  const before = word.slice(0, brace.index);
  const after = word.slice(brace.index + brace[0].length);
  return (brace[1] ?? '').split(',').map((choice) => before + choice + after);
}

const WILDCARD = /\*|\?|\[[^\]]*\]/;

/** What is there that a pattern such as `.e*` may mean; rather too much than too little. */
function findAll(word: string, cwd: string, budget: PathBudget): readonly string[] {
  if (!WILDCARD.test(word)) return [];
  const full = path.resolve(cwd, word);
  const { root } = path.parse(full);
  let places = [root];
  for (const segment of full.slice(root.length).split(path.sep)) {
    const found = places.flatMap((place) => entriesIn(place, segment, budget));
    budget.isSpent ||= found.length > MAX_SPELLINGS;
    places = found.slice(0, MAX_SPELLINGS);
  }
  return places;
}

function entriesIn(directory: string, segment: string, budget: PathBudget): readonly string[] {
  if (!WILDCARD.test(segment)) return [path.join(directory, segment)];
  budget.directories -= 1;
  budget.isSpent ||= budget.directories < 0;
  if (budget.directories < 0) return [];
  const pieces = segment.toLowerCase().split(new RegExp(WILDCARD, 'g'));
  const pattern = { pieces, bare: null, isDetailed: true };
  return namesIn(directory)
    .filter((name) => isCommandMatch(pattern, name.toLowerCase()))
    .map((name) => path.join(directory, name));
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
