import { appendFileSync, chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseJson } from '../../base/json.ts';
import { readSurroundings, getStateDirectory } from '../../host/surroundings.ts';
import { redactObject } from '../../host/redact-object.ts';

const MAX_PROMPTS = 100;
const MAX_PROMPT_CHARACTERS = 4000;

/** Prompts of all sessions, for recall. Where they cannot be stored, only this session remembers them. */
export class PromptHistory {
  /** Oldest first. */
  readonly prompts: readonly string[];
  readonly #file: string | null;

  constructor() {
    const directory = getStateDirectory(readSurroundings());
    this.#file = directory === null ? null : path.join(directory, 'chat-history');
    this.prompts = this.#file === null ? [] : readPrompts(this.#file);
  }

  append(prompt: string): void {
    if (this.#file === null || prompt.length > MAX_PROMPT_CHARACTERS) return;
    void appendPrompt(this.#file, prompt).catch(() => undefined);
  }
}

async function appendPrompt(file: string, prompt: string): Promise<void> {
  const { text } = await redactObject({ text: prompt }, {});
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  appendFileSync(file, `${JSON.stringify(text)}\n`, { mode: 0o600 });
}

/** Reads the last prompts and shrinks a file that holds many more. */
function readPrompts(file: string): readonly string[] {
  let prompts: readonly string[] = [];
  tryRun(() => {
    const lines = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    prompts = lines.slice(-MAX_PROMPTS).flatMap(parsePrompt);
    if (lines.length <= 2 * MAX_PROMPTS) return;
    const lastLines = prompts.map((prompt) => `${JSON.stringify(prompt)}\n`);
    writeFileSync(file, lastLines.join(''), { mode: 0o600 });
    chmodSync(file, 0o600);
  });
  return prompts;
}

function parsePrompt(line: string): readonly string[] {
  const parsed = parseJson(line);
  return parsed.ok && typeof parsed.value === 'string' ? [parsed.value] : [];
}

/** The history is a convenience: errors are ignored. */
function tryRun(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
