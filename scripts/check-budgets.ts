import path from 'node:path';
import { countForBudgets, type BudgetCounts } from './budget-counts.ts';
import { countLines, lineAt, readSourceFiles, type SourceFile } from './source-files.ts';

const BUDGETS = {
  functionLines: 60,
  foldersBelowSrc: 3,
  castsInSrc: 10,
};

const LIST_FILES = ['src/dialects/index.ts', 'src/agent/tools/index.ts', 'src/base/jsonc.ts'];
const DRAWER = /^(utils?|helpers?|common|shared|core|misc)$/;
const UNFINISHED = /\b(TODO|FIXME)\b/;
const SUPPRESSION = /\b(oxlint|eslint)-disable|@ts-(ignore|nocheck)|oxfmt-ignore|prettier-ignore/;

const root = path.resolve(process.argv[2] ?? '.');
const measured = readSourceFiles(root, ['src', 'scripts']).map((source) => ({
  source,
  code: countForBudgets(source.program),
}));
const inSrc = measured.filter(({ source }) => source.path.startsWith('src/'));
const others = readSourceFiles(root, ['test', 'examples', 'bench', 'interop']);

const violations = [
  ...measured.flatMap(({ source, code }) => [
    ...checkFunctions(source, code),
    ...checkConstructs(source, code),
    ...checkPlace(source),
  ]),
  ...inSrc.flatMap(({ source, code }) => [
    ...checkThrows(source, code),
    ...checkBarrel(source, code),
  ]),
  ...checkCasts(),
  ...[...measured.map(({ source }) => source), ...others].flatMap(checkComments),
];
for (const violation of violations) process.stdout.write(`${violation}\n`);
process.stdout.write(`budgets: ${summary()}, ${violations.length} violations\n`);
process.exitCode = violations.length === 0 ? 0 : 1;

function checkFunctions(source: SourceFile, code: BudgetCounts): string[] {
  return code.functions
    .map(({ start, end }) => ({ start, lines: countLines(source.text.slice(start, end)) }))
    .filter((each) => each.lines > BUDGETS.functionLines)
    .map((each) => {
      const limit = `at most ${BUDGETS.functionLines}`;
      return `${at(source, each.start)}: a function of ${each.lines} lines, ${limit}`;
    });
}

function checkConstructs(source: SourceFile, code: BudgetCounts): string[] {
  const found = (offsets: readonly number[], sentence: string) =>
    offsets.map((offset) => `${at(source, offset)}: ${sentence}`);
  return [
    ...found(code.anys, 'any; say unknown and narrow it'),
    ...found(code.enums, 'an enum; say a union of literals'),
    ...found(code.emptyCatches, 'an empty catch; a failure must go somewhere'),
  ];
}

function checkThrows(source: SourceFile, code: BudgetCounts): string[] {
  return code.bareThrows.map(
    (offset) =>
      `${at(source, offset)}: throws a bare Error; throw a HooklineError or use invariant`,
  );
}

function checkBarrel(source: SourceFile, code: BudgetCounts): string[] {
  const isEntry = path.posix.dirname(source.path) === 'src';
  if (!code.isBarrel || isEntry || LIST_FILES.includes(source.path)) return [];
  return [`${source.path}: only re-exports; import from the file that has the thing`];
}

function checkPlace(source: SourceFile): string[] {
  const names = source.path.split('/').slice(1);
  const isDrawer = names.some((name) => DRAWER.test(path.basename(name, '.ts')));
  const drawer =
    isDrawer || names.at(-1) === 'types.ts'
      ? [`${source.path}: a drawer; name it after the thing it holds`]
      : [];
  const folders = names.length - 1;
  const isDeep = source.path.startsWith('src/') && folders > BUDGETS.foldersBelowSrc;
  const limit = `at most ${BUDGETS.foldersBelowSrc}`;
  const deep = isDeep ? [`${source.path}: ${folders} folders below src, ${limit}`] : [];
  return [...drawer, ...deep];
}

function checkCasts(): string[] {
  const casts = inSrc.flatMap(({ source, code }) => code.casts.map((offset) => at(source, offset)));
  if (casts.length <= BUDGETS.castsInSrc) return [];
  return [`src: ${casts.length} casts, at most ${BUDGETS.castsInSrc}: ${casts.join(', ')}`];
}

function checkComments(source: SourceFile): string[] {
  return source.comments.flatMap(({ value, start }) => {
    if (SUPPRESSION.test(value)) return [`${at(source, start)}: a suppression; fix the code`];
    return UNFINISHED.test(value) ? [`${at(source, start)}: unfinished; finish it or drop it`] : [];
  });
}

function summary(): string {
  const lines = inSrc.reduce((sum, { source }) => sum + countLines(source.text), 0);
  const casts = inSrc.reduce((sum, { code }) => sum + code.casts.length, 0);
  return `${inSrc.length} files and ${lines} lines in src, ${casts} casts`;
}

function at(source: SourceFile, offset: number): string {
  return `${source.path}:${lineAt(source, offset)}`;
}
