import path from 'node:path';

/** What `<agent>-hook` was called with. */
export interface ForwarderArguments {
  /** In the order in which they are tried; empty when the forwarder finds a bridge itself. */
  readonly ports: readonly number[];
  /** Where events go that no bridge took; null for the default. */
  readonly directory: string | null;
  /** Switches the agent's hooks on or off instead of forwarding an event. */
  readonly action: SwitchAction | null;
  /** How long a bridge may take to answer, in milliseconds; null for the default. */
  readonly waitMs: number | null;
  /** What the shell form of the installed entry passes on, because it reads nothing from the environment. */
  readonly home: string | null;
  readonly stateDirectory: string | null;
  /** The id under which the shell form has sent the event already. */
  readonly eventId: string | null;
  /** Whether the shell form has tried the bridge already. */
  readonly isForFile: boolean;
  /** Arguments that mean nothing here; the event is forwarded all the same. */
  readonly unknown: readonly string[];
}

export const SWITCH_ACTIONS = ['enable', 'disable', 'status'] as const;
export type SwitchAction = (typeof SWITCH_ACTIONS)[number];

type Writable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

export function parseArguments(args: readonly string[]): ForwarderArguments {
  const ports: number[] = [];
  const unknown: string[] = [];
  const parsed: Writable<ForwarderArguments> = {
    ports,
    directory: null,
    waitMs: null,
    action: null,
    home: null,
    stateDirectory: null,
    eventId: null,
    isForFile: false,
    unknown,
  };
  const words = args.flatMap(splitAssignment);
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const value = words[at + 1];
    const action = SWITCH_ACTIONS.find((each) => word === `--${each}`);
    if (action !== undefined) parsed.action = action;
    else if (word === '--to-file') parsed.isForFile = true;
    else if (word === '--port' || word === '--ports') {
      // Also `--ports 3045 3043`.
      while (/^[\d,]+$/.test(words[at + 1] ?? '')) addPorts(words[++at] ?? '', ports, unknown);
    } else if (word === '--wait' && /^\d{1,6}$/.test(value ?? '')) {
      parsed.waitMs = Number(value);
      at++;
    } else if (value !== undefined && isNamed(word, VALUES)) {
      parsed[VALUES[word]] = value;
      at++;
    } else unknown.push(word);
  }
  return parsed;
}

const VALUES = {
  '--dir': 'directory',
  '--home': 'home',
  '--state': 'stateDirectory',
  '--event-id': 'eventId',
} as const;

function isNamed<Table extends object>(word: string, table: Table): word is string & keyof Table {
  return Object.hasOwn(table, word);
}

/** `--port=3043` → `--port`, `3043` */
function splitAssignment(word: string): readonly string[] {
  const [, name, value] = /^(--[a-z-]+)=(.*)$/s.exec(word) ?? [];
  return name === undefined || value === undefined ? [word] : [name, value];
}

const MOST_PORT = 65_535;

function addPorts(list: string, ports: number[], unknown: string[]): void {
  for (const text of list.split(',').filter(Boolean)) {
    const port = Number(text);
    if (port < 1 || port > MOST_PORT) unknown.push(text);
    else if (!ports.includes(port)) ports.push(port);
  }
}

/** The directory of `--dir`; `~` is the home directory also where no shell has expanded it. */
export function resolveDirectory(directory: string, home: string | null, cwd: string): string {
  if (home !== null && (directory === '~' || directory.startsWith('~/'))) {
    return path.join(home, directory.slice(1));
  }
  return path.resolve(cwd, directory);
}
