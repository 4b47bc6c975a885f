import type { ElicitationAnswer, ElicitationRequest } from '../../../agent/session-context.ts';
import { isRecord } from '../../../base/json.ts';
import { toOneLine, toPrintable } from '../../output/print.ts';
import type { ChatView } from '../view/view.ts';

const CANCEL: ElicitationAnswer = { action: 'cancel' };

/** Asks for the fields of an MCP server's form, or shows the page that it wants opened. */
export async function askElicitation(
  view: ChatView,
  request: ElicitationRequest,
  signal: AbortSignal,
): Promise<ElicitationAnswer> {
  const consent = await view.choose(toConsentChoice(request), signal);
  if (consent === null) return CANCEL;
  if (consent === 'no') return { action: 'decline' };
  if (request.mode === 'url') return { action: 'accept' };
  const content: Record<string, unknown> = {};
  for (const field of listFields(request)) {
    const value = await askField(view, field, signal);
    if (value === null) return CANCEL;
    if (value !== undefined) content[field.name] = value;
  }
  return { action: 'accept', content };
}

function toConsentChoice({ server, message, mode, url, schema }: ElicitationRequest) {
  const names = listFields({ schema: schema ?? {} }).map(({ name }) => toPrintable(name));
  const about =
    mode === 'url'
      ? [`Open this page: ${toPrintable(url ?? '')}`]
      : [`Requested: ${names.join(', ')}`];
  return {
    title: `MCP server ${toOneLine(server)} requests input`,
    lines: [...message.split('\n').map(toPrintable), ...about],
    options: [
      { value: 'yes', key: 'y', label: mode === 'url' ? 'Opened' : 'Answer' },
      { value: 'no', key: 'n', label: 'Decline' },
    ],
  };
}

interface Field {
  readonly name: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly isRequired: boolean;
}

function listFields({ schema = {} }: Pick<ElicitationRequest, 'schema'>): readonly Field[] {
  const { properties, required } = schema;
  if (!isRecord(properties)) return [];
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, field]) => ({
    name,
    schema: isRecord(field) ? field : {},
    isRequired: needed.includes(name),
  }));
}

/** Null when the user cancels, undefined when they skip the field. */
async function askField(view: ChatView, field: Field, signal: AbortSignal): Promise<unknown> {
  const choices = listChoices(field);
  const title = formatTitle(field);
  if (choices.length > 0) {
    const skip = field.isRequired ? [] : [{ value: SKIPPED, label: 'Skip' }];
    const options = [...choices.map((value) => ({ value, label: toPrintable(value) })), ...skip];
    const chosen = await view.choose({ title, lines: [], options }, signal);
    if (chosen === null) return null;
    return chosen === SKIPPED ? undefined : parseValue(field, chosen);
  }
  return askText(view, title, field, signal);
}

const SKIPPED = '\u0000left out';

/** Asks until the input is valid. */
async function askText(
  view: ChatView,
  title: string,
  field: Field,
  signal: AbortSignal,
): Promise<unknown> {
  const hint = field.isRequired
    ? 'Enter answer · Esc cancel'
    : 'Enter answer · leave empty to skip';
  let lines: readonly string[] = [];
  for (;;) {
    const written = await view.ask({ title, lines, hint }, signal);
    if (written === null) return null;
    if (written === '' && !field.isRequired) return undefined;
    const value = parseValue(field, written);
    if (value !== undefined) return value;
    lines = [`Expected ${describeExpected(field)}.`];
  }
}

function formatTitle({ name, schema, isRequired }: Field): string {
  const { title, description } = schema;
  const label = typeof title === 'string' ? title : name;
  const about = typeof description === 'string' ? `: ${description}` : '';
  return toPrintable(`${label}${isRequired ? '' : ' (optional)'}${about}`);
}

function listChoices({ schema }: Field): readonly string[] {
  if (schema['type'] === 'boolean') return ['yes', 'no'];
  const listed: readonly unknown[] = Array.isArray(schema['enum']) ? schema['enum'] : [];
  return listed.filter((each): each is string => typeof each === 'string');
}

/** Undefined when the text does not match the schema. */
function parseValue({ schema, isRequired }: Field, written: string): unknown {
  const { type } = schema;
  if (type === 'boolean') return written === 'yes';
  if (type !== 'number' && type !== 'integer') {
    return isRequired && written === '' ? undefined : written;
  }
  const number = Number(written);
  const isFitting = written.trim() !== '' && Number.isFinite(number);
  return isFitting && (type === 'number' || Number.isInteger(number)) ? number : undefined;
}

function describeExpected({ schema }: Field): string {
  if (schema['type'] === 'integer') return 'a whole number';
  return schema['type'] === 'number' ? 'a number' : 'a text that is not empty';
}
