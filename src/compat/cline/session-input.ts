import { readRegularFile } from '../../base/files.ts';
import { HooklineError, getErrorMessage } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import { memoize } from '../../base/memoize.ts';
import type { ClineCoreOptions, ClineCoreStartInput } from './start-input.ts';
import { formatFileText } from '../../plugins/messages/agent-messages.ts';
import { createInputError, createUnsupportedError } from './errors.ts';

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
  for (const key of ['providerId', 'modelId']) checkNonEmptyText(`config.${key}`, config[key]);
  for (const key of ['cwd', 'workspaceRoot', 'sessionId']) {
    checkOptional(`config.${key}`, config[key], checkNonEmptyText);
  }
  checkOptional('prompt', input['prompt'], checkText);
  for (const key of ['userFiles', 'userImages']) checkOptional(key, input[key], checkTexts);
  checkOptional('config.extensions', config['extensions'], checkList);
  checkOptional('config.extraTools', config['extraTools'], checkTools);
  for (const each of [input, config]) {
    checkOptional('toolPolicies', each['toolPolicies'], checkRecord);
  }
}

export function checkSendInput(value: unknown): void {
  const input = checkRecord('send', value);
  checkNonEmptyText('sessionId', input['sessionId']);
  checkText('prompt', input['prompt']);
  for (const key of ['userFiles', 'userImages']) checkOptional(key, input[key], checkTexts);
}

type Check = (place: string, value: unknown) => unknown;

function checkOptional(place: string, value: unknown, check: Check): void {
  if (value !== undefined) check(place, value);
}

function checkRecord(place: string, value: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value;
  throw createStartError(place, 'an object', value);
}

function checkNonEmptyText(place: string, value: unknown): void {
  if (typeof value !== 'string' || value === '') throw createStartError(place, 'a text', value);
}

/** The text may be empty. */
function checkText(place: string, value: unknown): void {
  if (typeof value !== 'string') throw createStartError(place, 'a text', value);
}

function checkList(place: string, value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw createStartError(place, 'a list', value);
}

function checkTexts(place: string, value: unknown): void {
  checkList(place, value).forEach((each, index) => checkNonEmptyText(`${place}[${index}]`, each));
}

function checkTools(place: string, value: unknown): void {
  checkList(place, value).forEach((each, index) => {
    const tool = checkRecord(`${place}[${index}]`, each);
    checkNonEmptyText(`${place}[${index}].name`, tool['name']);
    const { execute } = tool;
    if (typeof execute !== 'function') {
      throw createStartError(`${place}[${index}].execute`, 'a function', execute);
    }
  });
}

/** An empty text counts as nothing. */
function createStartError(place: string, expected: string, value: unknown): HooklineError {
  const hint = 'docs/guide/sdk.md shows what a session is started with.';
  return createInputError(place, expected, value === '' ? undefined : value, hint);
}

/** Reads the files and appends them to the prompt; throws USAGE_INVALID or, for images, SDK_UNSUPPORTED. */
export function appendUserFiles(
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
    return readRegularFile(file).toString('utf8');
  } catch (error) {
    throw new HooklineError('USAGE_INVALID', {
      message: `userFiles names ${file}, which cannot be read: ${getErrorMessage(error)}`,
      hint: 'Pass existing files, preferably by absolute path.',
    });
  }
}

/** Options of Cline that have no effect here, and what to do instead. */
const IGNORED_CONFIG: Readonly<Record<string, string>> = {
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

const IGNORED_CORE: Readonly<Record<string, string>> = {
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
    ...describeIgnored('config.', input.config, IGNORED_CONFIG),
    ...describeIgnored('', { ...core }, IGNORED_CORE),
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
