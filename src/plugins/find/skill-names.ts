import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import type { PluginEntry } from '../entry.ts';

/** The skills that a plugin's package brings, by the names of their directories. */
export function skillNames({ package: owner }: PluginEntry): readonly string[] {
  const directory = owner?.skills ?? null;
  if (directory === null) return [];
  try {
    return readdirSync(directory)
      .filter((name) => isSkill(path.join(directory, name)))
      .toSorted();
  } catch {
    // Whoever offers them says what is wrong with them.
    return [];
  }
}

function isSkill(directory: string): boolean {
  return statSync(path.join(directory, 'SKILL.md'), { throwIfNoEntry: false })?.isFile() === true;
}
