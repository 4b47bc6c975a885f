import { readFileSync } from 'node:fs';
import { isRecord } from '../../src/base/json.ts';

/** A payload that a real program gave to a recording hook. */
export interface RecordedPayload {
  readonly agent: string;
  /** The event under which the hook was registered. */
  readonly name: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

const FILE = new URL('../fixtures/other-agents/payloads.json', import.meta.url);

/** Where the recorded programs ran. */
const RECORDED_DIRECTORY = '/home/dev/project';

/** Lists the recorded payloads; those of opencode as the installed plugin sends them. */
export function readRecordedPayloads(): readonly RecordedPayload[] {
  const recorded: unknown = JSON.parse(readFileSync(FILE, 'utf8'));
  const agents = isRecord(recorded) && isRecord(recorded['agents']) ? recorded['agents'] : {};
  return Object.entries(agents).flatMap(([agent, events]) =>
    Object.entries(isRecord(events) ? events : {}).flatMap(([name, payloads]) =>
      (Array.isArray(payloads) ? payloads : []).filter(isRecord).map((payload) => ({
        agent,
        name,
        payload:
          agent === 'opencode'
            ? { hook: name, directory: RECORDED_DIRECTORY, ...payload }
            : payload,
      })),
    ),
  );
}

export function getRecordedPayload(agent: string, name: string): RecordedPayload['payload'] {
  const found = readRecordedPayloads().find((each) => each.agent === agent && each.name === name);
  if (found === undefined) throw new TypeError(`no recorded payload of ${agent} ${name}`);
  return found.payload;
}
