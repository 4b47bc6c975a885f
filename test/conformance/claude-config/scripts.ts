import { missingPrograms } from './programs.ts';

/** What a hook of the recording does. */
export interface Act {
  /** Printed to stdout; an object as compact JSON. */
  readonly out?: string | object;
  readonly err?: string;
  readonly exit?: number;
  /** Goes on only when this file is there: how one hook is made to end after another. */
  readonly after?: string;
}

export const LANGUAGES = ['sh', 'bash', 'python', 'node'] as const;
export type Language = (typeof LANGUAGES)[number];

/** A program that does it, and the command that runs it from the workspace. */
export interface Script {
  readonly file: string;
  readonly text: string;
  readonly command: string;
}

/** Each leaves `<name>.started` and, in the end, `<name>.done` in the workspace. */
export function scriptOf(act: Act, name: string, language: Language): Script {
  switch (language) {
    case 'sh':
      return { file: `${name}.sh`, text: shellText(act, name), command: `sh ${name}.sh` };
    case 'bash':
      return { file: `${name}.bash`, text: shellText(act, name), command: `bash ${name}.bash` };
    case 'python':
      return { file: `${name}.py`, text: pythonText(act, name), command: `python3 ${name}.py` };
    case 'node':
      return { file: `${name}.mjs`, text: nodeText(act, name), command: `node ${name}.mjs` };
  }
}

/** The languages take turns; one that is missing here is stood in for, as the act is the same in each. */
export function languageFor(index: number): Language {
  const language = LANGUAGES[index % LANGUAGES.length] ?? 'sh';
  return STAND_INS.get(language) ?? language;
}

const STAND_INS: ReadonlyMap<Language, Language> = new Map([
  ...missingPrograms(['bash']).map(() => ['bash', 'sh'] as const),
  ...missingPrograms(['python3']).map(() => ['python', 'node'] as const),
]);

/** The notes about languages that are missing here. */
export function standInNotes(): readonly string[] {
  return [...STAND_INS].map(
    ([missing, standIn]) => `${missing} is missing here: its hooks ran in ${standIn}`,
  );
}

function printed({ out = '' }: Act): string {
  return typeof out === 'string' ? out : JSON.stringify(out);
}

function shellText(act: Act, name: string): string {
  const wait = act.after === undefined ? '' : `while [ ! -e ${act.after} ]; do sleep 0.01; done\n`;
  return [
    'cat > /dev/null',
    `: > ${name}.started`,
    `${wait}printf %s ${quoted(printed(act))}`,
    `printf %s ${quoted(act.err ?? '')} >&2`,
    `: > ${name}.done`,
    `exit ${act.exit ?? 0}`,
    '',
  ].join('\n');
}

function pythonText(act: Act, name: string): string {
  return [
    'import os, sys, time',
    'sys.stdin.read()',
    `open("${name}.started", "w").close()`,
    ...(act.after === undefined
      ? []
      : [`while not os.path.exists("${act.after}"): time.sleep(0.01)`]),
    `sys.stdout.write(${JSON.stringify(printed(act))})`,
    `sys.stderr.write(${JSON.stringify(act.err ?? '')})`,
    `open("${name}.done", "w").close()`,
    `sys.exit(${act.exit ?? 0})`,
    '',
  ].join('\n');
}

function nodeText(act: Act, name: string): string {
  return [
    "import { existsSync, readFileSync, writeFileSync, writeSync } from 'node:fs';",
    "import { setTimeout } from 'node:timers/promises';",
    'readFileSync(0);',
    `writeFileSync('${name}.started', '');`,
    ...(act.after === undefined
      ? []
      : [`while (!existsSync('${act.after}')) await setTimeout(10);`]),
    `writeSync(1, ${JSON.stringify(printed(act))});`,
    `writeSync(2, ${JSON.stringify(act.err ?? '')});`,
    `writeFileSync('${name}.done', '');`,
    `process.exitCode = ${act.exit ?? 0};`,
    '',
  ].join('\n');
}

export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
