import { createProgramFinder } from '../../../src/process/program-finder.ts';

const findProgram = createProgramFinder(process.env['PATH'], process.platform);

/** Which of these programs this machine does not have. */
export function missingPrograms(names: readonly string[]): readonly string[] {
  return names.filter((name) => findProgram(name) === null);
}

/** The name of a test, with the reason why it is skipped. */
export function titleWithout(name: string, missing: readonly string[]): string {
  return missing.length === 0 ? name : `${name} (skipped without ${missing.join(', ')})`;
}
