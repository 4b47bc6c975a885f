import { HooklineError } from '../../base/errors.ts';
import { isRecord, getTypeName } from '../../base/json.ts';

/** What a program may give is whatever JavaScript can say; throws USAGE_INVALID with the first thing wrong. */
export function checkStartInput(given: unknown): void {
  const input = recordIn('start', given);
  const config = recordIn('config', input['config']);
  for (const key of ['providerId', 'modelId']) textIn(`config.${key}`, config[key]);
  for (const key of ['cwd', 'workspaceRoot', 'sessionId']) {
    ifGiven(config[key], textIn, `config.${key}`);
  }
  ifGiven(input['prompt'], stringIn, 'prompt');
  for (const key of ['userFiles', 'userImages']) ifGiven(input[key], textsIn, key);
  ifGiven(config['extensions'], listIn, 'config.extensions');
  ifGiven(config['extraTools'], toolsIn, 'config.extraTools');
  for (const each of [input, config]) ifGiven(each['toolPolicies'], recordIn, 'toolPolicies');
}

export function checkSendInput(given: unknown): void {
  const input = recordIn('send', given);
  textIn('sessionId', input['sessionId']);
  stringIn('prompt', input['prompt']);
  for (const key of ['userFiles', 'userImages']) ifGiven(input[key], textsIn, key);
}

type Reader = (place: string, given: unknown) => unknown;

function ifGiven(given: unknown, read: Reader, place: string): void {
  if (given !== undefined) read(place, given);
}

function recordIn(place: string, given: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(given)) return given;
  throw wrong(place, 'an object', given);
}

function textIn(place: string, given: unknown): void {
  if (typeof given !== 'string' || given === '') throw wrong(place, 'a text', given);
}

/** Which may be empty. */
function stringIn(place: string, given: unknown): void {
  if (typeof given !== 'string') throw wrong(place, 'a text', given);
}

function listIn(place: string, given: unknown): readonly unknown[] {
  if (Array.isArray(given)) return given;
  throw wrong(place, 'a list', given);
}

function textsIn(place: string, given: unknown): void {
  listIn(place, given).forEach((each, index) => textIn(`${place}[${index}]`, each));
}

function toolsIn(place: string, given: unknown): void {
  listIn(place, given).forEach((each, index) => {
    const tool = recordIn(`${place}[${index}]`, each);
    textIn(`${place}[${index}].name`, tool['name']);
    const { execute } = tool;
    if (typeof execute !== 'function') {
      throw wrong(`${place}[${index}].execute`, 'a function', execute);
    }
  });
}

function wrong(place: string, expected: string, given: unknown): HooklineError {
  const isEmpty = given === undefined || given === '';
  return new HooklineError('USAGE_INVALID', {
    message: `expected ${place} to be ${expected}, found ${isEmpty ? 'nothing' : getTypeName(given)}`,
    hint: 'docs/guide/sdk.md shows what a session is started with.',
  });
}
