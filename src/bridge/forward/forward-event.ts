import { randomUUID } from 'node:crypto';
import { systemClock } from '../../base/clock.ts';
import { isJson } from '../array-file.ts';
import {
  type ForwardFailure,
  getDefaultDirectory,
  getSpareDirectory,
  PREVIEW_CHARACTERS,
  rememberDirectory,
  type StoredPayload,
  storeEvents,
  storeFailure,
} from '../fallback-file.ts';
import { formatRoute, isEventId, KNOWN_PORTS } from '../protocol.ts';
import { getRunFile, readRunFile } from '../run-file.ts';
import { deliverEvent, WAIT_MS } from './deliver-event.ts';
import { type ForwarderArguments, resolveDirectory } from './parse-arguments.ts';
import { readInput } from './read-input.ts';

/** Where a forwarder runs. */
export interface ForwarderMachine {
  readonly cwd: string;
  readonly home: string;
  readonly stateDirectory: string;
  /** The descriptor with the event. */
  readonly input: number;
}

/** Reads one event and posts its bytes as they are; what no bridge takes goes to the agent's file. */
export async function forwardEvent(
  agent: string,
  options: ForwarderArguments,
  machine: ForwarderMachine,
): Promise<void> {
  const directory = findDirectory(options, machine);
  const { bytes: body, problem } = await readInput(machine.input);
  const fail = (failure: ForwardFailure) => storeFailure(directory, agent, failure);
  if (options.unknown.length > 0) {
    const error = `unknown arguments: ${options.unknown.join(' ')}`;
    fail({ context: 'hook_fatal_error', error });
  }
  if (problem !== null) fail({ context: 'stdin_read_error', error: problem });
  const text = body.toString('utf8');
  if (text.trim() === '') {
    fail({ context: 'json_parse_error', error: 'expected an event on stdin, found nothing' });
    return;
  }
  const { eventId: sentAs, ports } = options;
  const eventId = sentAs !== null && isEventId(sentAs) ? sentAs : randomUUID();
  const bridge = readRunFile(getRunFile(machine.stateDirectory));
  const failures = options.isForFile
    ? [{ message: 'the bridge did not take the event in time', code: 'ETIMEDOUT' }]
    : await deliverEvent({
        agent,
        eventId,
        body,
        waitMs: options.waitMs ?? WAIT_MS,
        ports,
        knownPorts: KNOWN_PORTS,
        bridge,
      });
  if (failures === null) return;
  // The event first: the process may be killed at any moment.
  store(agent, directory, machine, { id: eventId, receivedAt: systemClock.now(), text });
  const additionalData = { path: formatRoute(agent), dataLength: body.length };
  for (const error of failures) fail({ context: 'http_send_failed', error, additionalData });
  if (!isJson(text.trim())) {
    const rawDataPreview = text.slice(0, PREVIEW_CHARACTERS);
    fail({ context: 'json_parse_error', error: 'not JSON', additionalData: { rawDataPreview } });
  }
}

function findDirectory({ directory }: ForwarderArguments, { home, cwd }: ForwarderMachine): string {
  return directory === null ? getDefaultDirectory(home) : resolveDirectory(directory, home, cwd);
}

/** Writes to the directory of the agent's file, or to our own when that cannot be written. */
function store(
  agent: string,
  directory: string,
  { home, stateDirectory }: ForwarderMachine,
  payload: StoredPayload,
): void {
  try {
    storeEvents(directory, agent, payload);
  } catch (error) {
    const spare = getSpareDirectory(stateDirectory);
    storeEvents(spare, agent, payload);
    storeFailure(spare, agent, { context: 'hook_fatal_error', error });
    return;
  }
  if (directory !== getDefaultDirectory(home)) rememberDirectory(stateDirectory, directory);
}
