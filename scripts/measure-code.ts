import path from 'node:path';
import {
  countFile,
  type FileCount,
  findBorderCrossings,
  findDialectPlaces,
  findSetupPlaces,
} from './measure/count-tree.ts';
import { describeVerbs } from './measure/plain-verbs.ts';
import { findShapes, findSpine } from './measure/spine.ts';
import { traceToolCalls } from './measure/trace-call.ts';
import { readSourceFiles } from './source-files.ts';

/**
 * Prints how the code measures: `npm run measure [root]`, with `--details` also what was counted.
 * It judges nothing and exits with 0; `check-layers` and `check-budgets` fail, this does not.
 */
interface Row {
  readonly about: string;
  /** When it was first measured. */
  readonly first: string;
  readonly goal: string;
  readonly now: string;
  readonly counted: string;
  readonly details: readonly string[];
}

/** Lines of a file: those of the goal, 77,000 in 520 files. A folder of this share of all lines is one of the large ones. */
const FOLDER_GOALS = { interfaces: 11, exports: 26, linesOfAFile: 148, shareOfLines: 0.04 };

const root = path.resolve(process.argv.slice(2).find((word) => !word.startsWith('--')) ?? '.');
const hasDetails = process.argv.includes('--details');
const sources = readSourceFiles(root, ['src']);
const counts = sources.map(countFile);
const lines = sum(counts, (each) => each.lines);
const rows = [...countRows(), ...traceRowsIfPossible()];
for (const { about, first, goal, now } of rows) {
  print(`${about}\n    now ${now} · first ${first} · goal ${goal}`);
}
print('\nHow it counts');
for (const { about, counted, details } of rows) {
  print(`- ${about}: ${counted}`);
  if (hasDetails) for (const detail of details) print(`    ${detail}`);
}
print(
  '\nFolders that are the reason for a miss: above a goal, with small files, or among the largest',
);
for (const line of describeFolders()) print(line);

function countRows(): Row[] {
  const functions = counts.flatMap((each) => each.functions);
  const unplain = counts.flatMap((each) => each.unplain.map((name) => `${each.path} ${name}`));
  const crossings = findBorderCrossings(sources);
  const places = findDialectPlaces(sources);
  return [
    {
      about: 'files / lines in src',
      first: '835 / 85,073',
      goal: '≤ 520 / ≤ 77,000',
      now: `${counts.length} / ${lines}`,
      counted: 'every .ts file below src, with all its lines',
      details: [],
    },
    {
      about: 'exported functions that do not start with a plain verb',
      first: '706 of 1,411',
      goal: 'the listed exceptions',
      now: `${unplain.length} of ${functions.length}`,
      counted: `declared functions and arrow functions that a file exports; the first word of the name is compared with ${describeVerbs()}; a name that ends in Of starts with a noun`,
      details: unplain,
    },
    {
      about: 'interfaces · exports per 1,000 lines',
      first: '16 · 34',
      goal: '≤ 11 · ≤ 26',
      now: `${perThousand(sum(counts, (each) => each.interfaces))} · ${perThousand(sum(counts, (each) => each.exports))}`,
      counted:
        'interfaces, and aliases of an object type or of an intersection with one; names that a file declares and exports, not re-exports',
      details: [],
    },
    {
      about: "files outside dialects/ that import a dialect's inside",
      first: '48',
      goal: '0',
      now: String(crossings.length),
      counted: 'imports of any kind, types included, from below src/dialects/<name>/',
      details: crossings,
    },
    {
      about: 'places to touch for a new dialect',
      first: '15–18 files',
      goal: 'one folder and one line',
      now: String(places.length),
      counted:
        "files outside the dialects' folders that compare a dialect with the name of one (===, case, includes) or fall back to one (??), in all of src; and files of cli, host, testing, templates, acp, permissions and dialects/*.ts that are named after a dialect (a folder counts once), offer dialects as choices, or have keys for several. The names are those of the folders and those that the dialects give their hooks (plugin). Left out is compat/cline, the compatibility package for Cline's own API (sdk in older trees)",
      details: places,
    },
  ];
}

/** A tree that cannot run still has the rows that are counted in its text. */
function traceRowsIfPossible(): Row[] {
  try {
    return traceRows();
  } catch (error) {
    print(`The rows on path, shapes and wrappers are missing: ${String(error)}\n`);
    return [];
  }
}

function traceRows(): Row[] {
  const { hook, plugin } = traceToolCalls(root, sources);
  const spine = findSpine(hook);
  const shapes = findShapes(hook, sources);
  const setups = findSetupPlaces(sources);
  return [
    {
      about: 'one PreToolUse with one program hook, call to verdict (files / functions)',
      first: '25 / 45, planned and trust-checked twice',
      goal: '≤ 12 / 18, planned once',
      now: `${spine.fileChanges} / ${spine.functions.length}, trust-checked ${spine.trustChecks} ×`,
      counted:
        "an instrumented copy runs one Bash call of a scripted model past one trusted Claude hook with a matcher. The spine are the calls that lead to a milestone: the matcher is tested, trust/ looks at the hook's file, the program is started, its payload serialised, its answer parsed, the verdict made. It begins below the function that also runs the tool. A function that is called twice counts twice, one without a name belongs to the one around it; files are the times the way goes into another one. Of process, trust and a dialect's folder only what is called from outside counts, of base nothing",
      details: spine.functions,
    },
    {
      about: 'named shapes that the same call passes through',
      first: '26',
      goal: '≤ 10',
      now: String(shapes.length),
      counted:
        'in the same run, the types of src that annotate a parameter or result in which the command or the reason of the hook is found (four properties deep), in functions that hand it on; not in base, permissions, cli and trace, and inside of process, trust and dialects only where it is called from outside',
      details: shapes,
    },
    {
      about: 'plugin, from file to hook',
      first: 'six wrappers, set-up assembled in five places',
      goal: 'two objects, one setUpPlugins',
      now: `${plugin.wrappers.length + 1} wrappers, set-up assembled in ${setups.length} places`,
      counted:
        'in a run with one plugin, the objects that hold it (three properties deep) when they are passed or returned, without lists, modules and the plugin itself, and the handler of the engine; files that call what makes the api of setup() or the registry, without those two files; a file that has a plugin set up by the one function that does it all (setUpPlugin) assembles nothing',
      details: [...plugin.wrappers, 'the handler of the engine', ...setups],
    },
  ];
}

function describeFolders(): string[] {
  const folders = new Map<string, FileCount[]>();
  for (const each of counts) {
    const folder = each.path
      .split('/')
      .slice(0, 3)
      .join('/')
      .replace(/\/[^/]+\.ts$/u, '');
    folders.set(folder, [...(folders.get(folder) ?? []), each]);
  }
  return [...folders].flatMap(([folder, files]) => {
    const size = sum(files, (each) => each.lines);
    const interfaces = (1000 * sum(files, (each) => each.interfaces)) / size;
    const exports = (1000 * sum(files, (each) => each.exports)) / size;
    const unplain = sum(files, (each) => each.unplain.length);
    const reasons = [
      ...(interfaces > FOLDER_GOALS.interfaces ? ['interfaces'] : []),
      ...(exports > FOLDER_GOALS.exports ? ['exports'] : []),
      ...(unplain > 0 ? ['names'] : []),
      ...(size / files.length < FOLDER_GOALS.linesOfAFile ? ['small files'] : []),
      ...(size > FOLDER_GOALS.shareOfLines * lines ? ['lines'] : []),
    ];
    const small = files.filter((each) => each.lines < 25).length;
    const words = [
      `${files.length} files`,
      `${size} lines`,
      `${interfaces.toFixed(1)} interfaces · ${exports.toFixed(1)} exports per 1,000`,
      `${unplain} names`,
      `${small} files under 25 lines`,
    ];
    return reasons.length === 0 ? [] : [`- ${folder} (${reasons.join(', ')}): ${words.join(', ')}`];
  });
}

function perThousand(count: number): string {
  return ((1000 * count) / lines).toFixed(1);
}

function sum<Value>(values: readonly Value[], read: (value: Value) => number): number {
  return values.reduce((total, value) => total + read(value), 0);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
