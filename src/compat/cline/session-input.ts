import { HooklineError, getErrorMessage } from '../../base/errors.ts';
import { isRecord, getTypeName } from '../../base/json.ts';
import { memoize } from '../../base/memoize.ts';
import type { ClineCoreOptions, ClineCoreStartInput } from './start-input.ts';
import { readFileSync } from 'node:fs';
import { formatFileText } from '../../plugins/messages/agent-messages.ts';
import { createUnsupportedError } from './errors.ts';

export interface PreparedInput {
  readonly input: ClineCoreStartInput;
  /** Called when the session has ended, or never began. */
  dispose(): Promise<void>;
}

/** Checks what a session is started with, and lets the program's own `prepare` change it. */
export async function prepareInput(
  core: ClineCoreOptions,
  given: ClineCoreStartInput,
): Promise<PreparedInput> {
  checkStartInput(given);
  const prepared = await core.prepare?.(given);
  const dispose = memoize(async () => {
    await prepared?.dispose?.();
  });
  try {
    const input = (await prepared?.applyToStartSessionInput?.(given)) ?? given;
    checkStartInput(input);
    return { input, dispose };
  } catch (error) {
    await dispose().catch(() => undefined);
    throw error;
  }
}

/** What a program may give is whatever JavaScript can say; throws USAGE_INVALID with the first thing wrong. */
function checkStartInput(given: unknown): void {
  const input = checkRecord('start', given);
  const config = checkRecord('config', input['config']);
  for (const key of ['providerId', 'modelId']) checkText(`config.${key}`, config[key]);
  for (const key of ['cwd', 'workspaceRoot', 'sessionId']) {
    checkOptional(config[key], checkText, `config.${key}`);
  }
  checkOptional(input['prompt'], checkString, 'prompt');
  for (const key of ['userFiles', 'userImages']) checkOptional(input[key], checkTexts, key);
  checkOptional(config['extensions'], checkList, 'config.extensions');
  checkOptional(config['extraTools'], checkTools, 'config.extraTools');
  for (const each of [input, config]) {
    checkOptional(each['toolPolicies'], checkRecord, 'toolPolicies');
  }
}

export function checkSendInput(given: unknown): void {
  const input = checkRecord('send', given);
  checkText('sessionId', input['sessionId']);
  checkString('prompt', input['prompt']);
  for (const key of ['userFiles', 'userImages']) checkOptional(input[key], checkTexts, key);
}

type Reader = (place: string, given: unknown) => unknown;

function checkOptional(given: unknown, read: Reader, place: string): void {
  if (given !== undefined) read(place, given);
}

function checkRecord(place: string, given: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(given)) return given;
  throw createInputError(place, 'an object', given);
}

function checkText(place: string, given: unknown): void {
  if (typeof given !== 'string' || given === '') throw createInputError(place, 'a text', given);
}

/** Which may be empty. */
function checkString(place: string, given: unknown): void {
  if (typeof given !== 'string') throw createInputError(place, 'a text', given);
}

function checkList(place: string, given: unknown): readonly unknown[] {
  if (Array.isArray(given)) return given;
  throw createInputError(place, 'a list', given);
}

function checkTexts(place: string, given: unknown): void {
  checkList(place, given).forEach((each, index) => checkText(`${place}[${index}]`, each));
}

function checkTools(place: string, given: unknown): void {
  checkList(place, given).forEach((each, index) => {
    const tool = checkRecord(`${place}[${index}]`, each);
    checkText(`${place}[${index}].name`, tool['name']);
    const { execute } = tool;
    if (typeof execute !== 'function') {
      throw createInputError(`${place}[${index}].execute`, 'a function', execute);
    }
  });
}

function createInputError(place: string, expected: string, given: unknown): HooklineError {
  const isEmpty = given === undefined || given === '';
  return new HooklineError('USAGE_INVALID', {
    message: `expected ${place} to be ${expected}, found ${isEmpty ? 'nothing' : getTypeName(given)}`,
    hint: 'docs/guide/sdk.md shows what a session is started with.',
  });
}

interface GivenFiles {
  readonly userFiles?: readonly string[];
  readonly userImages?: readonly string[];
}

/** Files go with the prompt as text; images cannot yet. */
export function withFiles(prompt: string, { userFiles = [], userImages = [] }: GivenFiles): string {
  if (userImages.length > 0) {
    throw createUnsupportedError(
      'images in prompts yet',
      'Name the file, so that the agent can read it.',
    );
  }
  return [prompt, ...userFiles.map((file) => formatFileText(file, readUserFile(file)))].join(
    '\n\n',
  );
}

function readUserFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new HooklineError('USAGE_INVALID', {
      message: `userFiles names ${file}, which cannot be read: ${getErrorMessage(error)}`,
      hint: 'Name files that are there, best by their whole path.',
    });
  }
}

/** Options of Cline's that do nothing here, and what to do instead. */
const OF_CONFIG: Readonly<Record<string, string>> = {
  execution: 'loops and failures in a row end a run by rules of Hookline’s own',
  compaction: 'when to compact is the setting agent.compactAt',
  checkpoint: 'use the history of your version control',
  providerConfig: 'give apiKey, baseUrl, headers and fetch themselves',
  knownModels: 'any modelId is sent as it is',
  thinkingBudgetTokens: 'use reasoningEffort',
  skills: 'skills are found in the workspace and at home',
  toolRoutingRules: 'editor and apply_patch are both offered',
  onTeamEvent: 'there are no teams',
  teamName: 'there are no teams',
  onConsecutiveMistakeLimitReached: 'such a run ends, and its result says so',
};

const OF_CORE: Readonly<Record<string, string>> = {
  featureFlags: 'there are none',
  messagesArtifactUploader: 'messages stay on this machine',
  sessionService: 'sessions are stored in ~/.hookline/sessions',
};

/** A sentence for each option that is set and has no effect here. */
export function listIgnoredOptions(
  core: ClineCoreOptions,
  input: ClineCoreStartInput,
): readonly string[] {
  return [
    ...describeIgnored('config.', input.config, OF_CONFIG),
    ...describeIgnored('', { ...core }, OF_CORE),
    ...Object.keys(input.localRuntime ?? {})
      .filter((key) => key !== 'pluginPaths' && key !== 'configExtensions')
      .map((key) => `localRuntime.${key} does nothing here`),
  ];
}

function describeIgnored(
  place: string,
  given: Readonly<Record<string, unknown>>,
  known: Readonly<Record<string, string>>,
): readonly string[] {
  return Object.entries(known).flatMap(([key, instead]) => {
    const value = given[key];
    const isOff = isRecord(value) && value['enabled'] === false && key === 'checkpoint';
    return value === undefined || isOff ? [] : [`${place}${key} does nothing here: ${instead}`];
  });
}

/** Files of plugins that a program names, wherever it may do so. */
export function listPluginPaths({ config, localRuntime }: ClineCoreStartInput): readonly string[] {
  const given: unknown = localRuntime?.['pluginPaths'];
  const further = Array.isArray(given) ? given.map(String) : [];
  return [...(config.pluginPaths ?? []), ...further];
}
