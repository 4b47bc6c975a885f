import type { Surroundings } from './machine.ts';

/** Whose settings: those of the user for all projects, or those of one project. */
export type InstallScope = 'user' | 'project';

/** Where our entry is to be installed, and what it starts. */
export interface InstallPlace {
  readonly surroundings: Surroundings;
  readonly scope: InstallScope;
  /** The project's directory; also known in the scope of the user, whose entries may not count there. */
  readonly project: string;
  /** The text of an entry's command. */
  readonly command: string;
  /** The script that the command starts, for files that start it without a shell. */
  readonly script: string;
  /** Whether a command is ours, also that of an earlier state directory. */
  readonly isOwnCommand: (command: string) => boolean;
}

/** What an agent's folder knows about its settings files. It declares; `src/agents` reads and writes. */
export interface AgentInstall {
  /** What users call the agent. */
  readonly title: string;
  /** The names of its program. */
  readonly programs: readonly string[];
  /** The first version that runs these hooks, as `--version` prints it; absent when unknown. */
  readonly oldestVersion?: string;
  /** Whether a running agent notices new hooks. */
  readonly readsHooks: 'at once' | 'at start';
  /** The events that are recorded, under the agent's own names. */
  readonly events: readonly string[];
  /** Lists the user's directories of the agent; one of them shows that it is installed. */
  readonly listDirectories: (surroundings: Surroundings) => readonly string[];
  /** Lists the files that hold our entries, or that should. Reads the files that decide about it. */
  readonly listFiles: (place: InstallPlace) => readonly InstallFile[];
  /** Lists further files in which entries of a vanished package may stand. */
  readonly listFormerFiles?: (place: InstallPlace) => readonly FormerFile[];
  /** Finds why hooks that are installed would not run. */
  readonly findCauses?: (place: InstallPlace) => readonly Cause[] | Promise<readonly Cause[]>;
  /** How matchers of its entries name tools; absent when entries have no matcher. */
  readonly matcher?: {
    /** The names of its own tools. */
    readonly tools: readonly string[];
    /** Whether a pattern must fit the whole name. */
    readonly isAnchored?: boolean;
  };
  /** How an entry gives its time limit. */
  readonly timeLimit?: { readonly keys: readonly string[]; readonly unitMs: number };
  /** What the user has to do before the agent runs the hook. */
  readonly nextStep?: string;
  /** How to run our command beside a file of somebody else's that takes its place. */
  readonly explainOccupied?: (place: InstallPlace) => string;
}

export type InstallFile = EntriesFile | OwnFile;

/** A JSON file, in which each event has an array of entries. */
export interface EntriesFile {
  readonly kind: 'entries';
  readonly path: string;
  /** The keys that lead to the events; none when the file is the map itself. */
  readonly container: readonly string[];
  /** What a new file has beside the events. */
  readonly skeleton?: Readonly<Record<string, unknown>>;
  /** An item for the array of each event. */
  readonly entries: Readonly<Record<string, unknown>>;
}

/** A file that is ours as a whole. */
export interface OwnFile {
  readonly kind: 'own';
  readonly path: string;
  readonly text: string;
  readonly mode: number;
  /** Whether a file with this text was written by Hookline, by whichever version. */
  readonly isOurs: (text: string) => boolean;
}

/** A file, or entries in one, that a package installed which no longer exists. */
export interface FormerFile {
  readonly path: string;
  /** The keys that lead to the events; absent when the whole file belongs to the package. */
  readonly container?: readonly string[];
}

/** Why a hook does not fire. The codes are part of the output of `agents status --json`. */
export interface Cause {
  readonly code: CauseCode;
  readonly message: string;
}

export const CAUSE_CODES = [
  'agent-missing',
  'agent-too-old',
  'entries-missing',
  'file-broken',
  'file-occupied',
  'file-shadowed',
  'file-wrapped',
  'former-package',
  'hooks-managed',
  'hooks-off',
  'interpreter-missing',
  'matcher-fits-nothing',
  'not-executable',
  'not-restarted',
  'not-trusted',
  'program-missing',
  'script-changed',
  'time-limit-short',
  'wrong-scope',
] as const;

export type CauseCode = (typeof CAUSE_CODES)[number];
