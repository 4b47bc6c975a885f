import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { isRecord } from '../base/json.ts';

/**
 * The rule set's profiler never frees its records, and iterates over all of them at each step. It is
 * resolved from the rule set's own location, because another copy would be another profiler.
 * The built program contains no profiler, and an empty function instead of this one.
 */
export async function disableProfiler(): Promise<void> {
  const ruleSet = createRequire(import.meta.url).resolve('@secretlint/core');
  const file = createRequire(ruleSet).resolve('@secretlint/profiler');
  const module: unknown = await import(pathToFileURL(file).href);
  const profiler = isRecord(module) ? module['secretLintProfiler'] : null;
  if (isRecord(profiler)) profiler['mark'] = () => undefined;
}
