import { findAgentFiles } from './agents.ts';
import { findCommandFiles } from './commands.ts';
import { visitInstructionFiles } from './instructions.ts';
import { findSkillFiles } from './skills.ts';
import { type InstructionPaths, SourceFiles, type TextExit } from './source-files.ts';

const MAX_EXITS = 200;

/**
 * Finds the includes and links in the workspace's texts that lead out of it, as a session would meet them:
 * what lies behind one that is not trusted is not looked at.
 */
export function findTextExits(paths: InstructionPaths): readonly TextExit[] {
  const found = new Map<string, TextExit>();
  const recording: InstructionPaths = {
    ...paths,
    isTrustedExit(exit) {
      if (found.size < MAX_EXITS) found.set(JSON.stringify([exit.file, exit.target]), exit);
      return paths.isTrustedExit?.(exit) === true;
    },
  };
  visitInstructionFiles(recording);
  const files = new SourceFiles(recording);
  for (const find of [findCommandFiles, findSkillFiles, findAgentFiles]) {
    for (const { directory, file } of find(files, recording)) files.read(directory, file);
  }
  return [...found.values()];
}
