import { existsSync, readFileSync } from 'node:fs';

/**
 * Compares the test cases of two runs, so that none is lost when files move and titles change:
 *
 *   node --import jiti/register scripts/compare-test-names.ts BEFORE AFTER [MAP]
 *
 * BEFORE and AFTER are JSON reports of vitest, or lists with `file<tab>full name` in each line. MAP has
 * a line `old file<tab>old name<tab>new file<tab>new name` for each renamed case; a `-` as new file
 * says that the case was dropped on purpose. A case whose full name is the same needs no line, even
 * when its file moved. Prints what is lost, new and wrongly mapped; exits 1 unless nothing is lost.
 */
interface TestCase {
  readonly file: string;
  readonly name: string;
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly fullName: string }[];
  }[];
}

interface Renaming {
  readonly from: TestCase;
  /** Null when the case was dropped on purpose. */
  readonly to: TestCase | null;
}

/** The cases that are not yet accounted for. Two may have the same name in one file. */
class CaseList {
  readonly #counts = new Map<string, number>();

  constructor(cases: readonly TestCase[]) {
    for (const each of cases) {
      this.#counts.set(toLine(each), (this.#counts.get(toLine(each)) ?? 0) + 1);
    }
  }

  has(each: TestCase): boolean {
    return (this.#counts.get(toLine(each)) ?? 0) > 0;
  }

  take(each: TestCase): boolean {
    const count = this.#counts.get(toLine(each)) ?? 0;
    if (count > 0) this.#counts.set(toLine(each), count - 1);
    return count > 0;
  }

  list(): TestCase[] {
    return [...this.#counts].flatMap(([line, count]) =>
      Array.from({ length: count }, () => fromLine(line)),
    );
  }
}

const [beforeFile, afterFile, mapFile] = process.argv.slice(2);
if (beforeFile === undefined || afterFile === undefined) {
  process.stderr.write('usage: compare-test-names.ts BEFORE AFTER [MAP]\n');
  process.exitCode = 2;
} else {
  const renamings = mapFile === undefined ? [] : readRenamings(mapFile);
  compare(readCases(beforeFile), readCases(afterFile), renamings);
}

function compare(
  before: readonly TestCase[],
  after: readonly TestCase[],
  renamings: readonly Renaming[],
): void {
  const lost = new CaseList(before);
  const added = new CaseList(after);
  const wrong: Renaming[] = [];
  let renamed = 0;
  let dropped = 0;
  for (const each of before) if (added.take(each)) lost.take(each);
  for (const renaming of renamings) {
    const isKnown = lost.has(renaming.from) && (renaming.to === null || added.has(renaming.to));
    if (!isKnown) wrong.push(renaming);
    else {
      lost.take(renaming.from);
      if (renaming.to === null) dropped += 1;
      else if (added.take(renaming.to)) renamed += 1;
    }
  }
  const moved = takeMoved(lost, added);
  print('lost, or renamed without a line in the map', lost.list());
  print('new', added.list());
  print(
    'in the map, but not as the map says',
    wrong.map(({ from }) => from),
  );
  process.stdout.write(
    `test names: ${before.length} before, ${after.length} after; ${moved} moved, ${renamed} renamed, ${dropped} dropped on purpose, ${lost.list().length} lost, ${added.list().length} new, ${wrong.length} wrong lines\n`,
  );
  process.exitCode = lost.list().length + wrong.length === 0 ? 0 : 1;
}

/** A case with the same full name in another file is the same case. */
function takeMoved(lost: CaseList, added: CaseList): number {
  const places = new Map<string, TestCase[]>();
  for (const each of added.list()) {
    places.set(each.name, [...(places.get(each.name) ?? []), each]);
  }
  let moved = 0;
  for (const each of lost.list()) {
    const there = places.get(each.name)?.shift();
    if (there === undefined) continue;
    lost.take(each);
    added.take(there);
    moved += 1;
  }
  return moved;
}

function readCases(file: string): TestCase[] {
  const text = readFileSync(file, 'utf8');
  if (!text.startsWith('{')) return readLines(text).map(fromLine);
  const report: Report = JSON.parse(text);
  return report.testResults.flatMap(({ name: file, assertionResults }) => {
    const root = file.slice(0, file.lastIndexOf('/test/'));
    return assertionResults.map(({ fullName }) => ({
      file: file.slice(root.length + 1),
      name: normalizeName(fullName, root),
    }));
  });
}

/** Some titles show where the tree lies, or the PATH of the machine. */
function normalizeName(name: string, root: string): string {
  return (
    name
      .replaceAll(/"PATH":"[^"]*"/gu, '"PATH":"…"')
      .replaceAll(root, '<root>')
      // The end of a temporary directory's name is random.
      .replaceAll(/(?<=\/[\w-]+-)[A-Za-z0-9]{6}(?=[/"\s]|$)/gu, '…')
      .replaceAll(/\s+/gu, ' ')
  );
}

function readRenamings(file: string): Renaming[] {
  if (!existsSync(file)) return [];
  return readLines(readFileSync(file, 'utf8')).map((line) => {
    const [oldFile = '', oldName = '', newFile = '', newName = ''] = line.split('\t');
    const to = newFile === '-' ? null : { file: newFile, name: newName };
    return { from: { file: oldFile, name: oldName }, to };
  });
}

function readLines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

function toLine({ file, name }: TestCase): string {
  return `${file}\t${name}`;
}

function fromLine(line: string): TestCase {
  const [file = '', name = ''] = line.split('\t');
  return { file, name };
}

function print(title: string, cases: readonly TestCase[]): void {
  if (cases.length === 0) return;
  process.stdout.write(`${title}:\n`);
  for (const each of cases) process.stdout.write(`  ${toLine(each)}\n`);
}
