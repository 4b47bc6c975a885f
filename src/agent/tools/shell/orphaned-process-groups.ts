/** Process groups that a command led and has left, while something in them goes on: `server &`. */
export interface OrphanedProcessGroups {
  /** To be told when the command has ended; remembers the group if anything is left in it. */
  track(ended: EndedCommand): void;
  /**
   * Ends what is left, as the end of a terminal would: who ignores that (`nohup`) or went into a
   * group of its own (`setsid`) goes on.
   */
  hangUp(): void;
}

export interface EndedCommand {
  /** Null when nothing was started. */
  readonly leader: number | null;
  readonly command: string;
}

export function createOrphanedProcessGroups(): OrphanedProcessGroups {
  const leaders = new Set<number>();
  return {
    track({ leader, command }) {
      for (const each of leaders) {
        if (!sendSignal(-each, 0)) leaders.delete(each);
      }
      if (leader === null || isDisowned(command)) return;
      if (sendSignal(-leader, 0)) leaders.add(leader);
    },
    hangUp() {
      for (const leader of leaders) {
        // The leader has ended, so whoever has its number now is another, with a group of its own.
        if (!sendSignal(leader, 0)) sendSignal(-leader, 'SIGHUP');
      }
      leaders.clear();
    },
  };
}

/** A shell keeps `disown` to itself; nothing else tells that what it started shall stay. */
function isDisowned(command: string): boolean {
  return /\bdisown\b/.test(command);
}

/** False, too, where there are no groups. */
function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}
