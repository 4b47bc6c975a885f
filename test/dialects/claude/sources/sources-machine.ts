import path from 'node:path';
import type { ClaudePlaces } from '../../../../src/dialects/claude/session.ts';
import { readSources } from '../../../../src/dialects/claude/sources/read-sources.ts';
import { createDirectory } from '../../../base/directory.ts';

export interface Machine {
  readonly base: string;
  readonly places: ClaudePlaces;
}

/** A machine with a user at `home` who starts in the repository `proj`. */
export function createMachine(
  files: Readonly<Record<string, unknown>>,
  change: (base: string) => Partial<ClaudePlaces> = () => ({}),
): Machine {
  const texts = Object.entries(files).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value, null, 2),
  ]);
  const base = createDirectory({
    'home/.keep': '',
    'proj/.keep': '',
    ...Object.fromEntries(texts),
  });
  const at = (...names: string[]) => path.join(base, ...names);
  return {
    base,
    places: {
      startDirectory: at('proj'),
      workspaceRoots: [at('proj')],
      home: at('home'),
      claudeDirectory: at('home', '.claude'),
      clineDirectory: at('home', '.cline'),
      managedDirectory: at('etc'),
      pluginDirectories: [],
      flagSettings: null,
      commandTimeoutMs: 600_000,
      env: {},
      ...change(base),
    },
  };
}

/** A readable summary of all that was read; paths relative to the machine. */
export function summarizeSources({ base, places }: Machine) {
  const reading = readSources(places);
  const short = (text: string) => text.replaceAll(`${base}/`, '');
  return {
    ...reading,
    commands: reading.entries.map((entry) => ('command' in entry ? entry.command : entry.type)),
    from: reading.entries.map(({ source }) =>
      [source.label, source.place, short(source.root ?? '-')].join(' '),
    ),
    why: reading.ignored.map((each) => short(`${each.path}: ${each.why}`)),
    faults: reading.broken.map((each) =>
      short(`${each.source.label} ${each.event} ${each.line}: ${each.why}`),
    ),
    short,
  };
}

/** Settings with one hook of this command. */
export function hook(command: string, event = 'PreToolUse', rest: object = {}) {
  return { hooks: { [event]: [{ hooks: [{ type: 'command', command, ...rest }] }] } };
}
