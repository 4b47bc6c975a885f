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

/** Checks the start input, and applies the program's `prepare` to it. */
export async function prepareInput(
  core: ClineCoreOptions,
  startInput: ClineCoreStartInput,
): Promise<PreparedInput> {
  checkStartInput(startInput);
  const prepared = await core.prepare?.(startInput);
  const dispose = memoize(async () => {
    await prepared?.dispose?.();
  });
  try {
    const input = (await prepared?.applyToStartSessionInput?.(startInput)) ?? startInput;
    checkStartInput(input);
    return { input, dispose };
  } catch (error) {
    await dispose().catch(() => undefined);
    throw error;
  }
}

/** Programs may be plain JavaScript; throws USAGE_INVALID about the first wrong field. */
function checkStartInput(value: unknown): void {
  const input = checkRecord('start', value);
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

export function checkSendInput(value: unknown): void {
  const input = checkRecord('send', value);
  checkText('sessionId', input['sessionId']);
  checkString('prompt', input['prompt']);
  for (const key of ['userFiles', 'userImages']) checkOptional(input[key], checkTexts, key);
}

type Reader = (place: string, value: unknown) => unknown;

function checkOptional(value: unknown, read: Reader, place: string): void {
  if (value !== undefined) read(place, value);
}

function checkRecord(place: string, value: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value;
  throw createInputError(place, 'an object', value);
}

function checkText(place: string, value: unknown): void {
  if (typeof value !== 'string' || value === '') throw createInputError(place, 'a text', value);
}

/** The text may be empty. */
function checkString(place: string, value: unknown): void {
  if (typeof value !== 'string') throw createInputError(place, 'a text', value);
}

function checkList(place: string, value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw createInputError(place, 'a list', value);
}

function checkTexts(place: string, value: unknown): void {
  checkList(place, value).forEach((each, index) => checkText(`${place}[${index}]`, each));
}

function checkTools(place: string, value: unknown): void {
  checkList(place, value).forEach((each, index) => {
    const tool = checkRecord(`${place}[${index}]`, each);
    checkText(`${place}[${index}].name`, tool['name']);
    const { execute } = tool;
    if (typeof execute !== 'function') {
      throw createInputError(`${place}[${index}].execute`, 'a function', execute);
    }
  });
}

function createInputError(place: string, expected: string, value: unknown): HooklineError {
  const isEmpty = value === undefined || value === '';
  return new HooklineError('USAGE_INVALID', {
    message: `expected ${place} to be ${expected}, found ${isEmpty ? 'nothing' : getTypeName(value)}`,
    hint: 'docs/guide/sdk.md shows what a session is started with.',
  });
}

/** Appends the files to the prompt as text; throws SDK_UNSUPPORTED for images. */
export function withFiles(
  prompt: string,
  { userFiles = [], userImages = [] }: Pick<ClineCoreStartInput, 'userFiles' | 'userImages'>,
): string {
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

/** Options of Cline that have no effect here, and what to do instead. */
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
  options: Readonly<Record<string, unknown>>,
  unsupported: Readonly<Record<string, string>>,
): readonly string[] {
  return Object.entries(unsupported).flatMap(([key, instead]) => {
    const value = options[key];
    const isOff = isRecord(value) && value['enabled'] === false && key === 'checkpoint';
    return value === undefined || isOff ? [] : [`${place}${key} does nothing here: ${instead}`];
  });
}
