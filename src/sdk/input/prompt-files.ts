import { readFileSync } from 'node:fs';
import { HooklineError, getErrorMessage } from '../../base/errors.ts';
import { fileText } from '../../dialects/cline-plugin/messages.ts';
import { unsupported } from '../errors.ts';

interface GivenFiles {
  readonly userFiles?: readonly string[];
  readonly userImages?: readonly string[];
}

/** Files go with the prompt as text; images cannot yet. */
export function withFiles(prompt: string, { userFiles = [], userImages = [] }: GivenFiles): string {
  if (userImages.length > 0) {
    throw unsupported('images in prompts yet', 'Name the file, so that the agent can read it.');
  }
  return [prompt, ...userFiles.map((file) => fileText(file, readGiven(file)))].join('\n\n');
}

function readGiven(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new HooklineError('USAGE_INVALID', {
      message: `userFiles names ${file}, which cannot be read: ${getErrorMessage(error)}`,
      hint: 'Name files that are there, best by their whole path.',
    });
  }
}
