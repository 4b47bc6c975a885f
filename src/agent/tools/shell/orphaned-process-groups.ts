/** Process groups of ended commands in which processes still run, such as after `server &`. */
export interface OrphanedProcessGroups {
  /** Must be called when a command has ended; tracks its group if processes remain. */
  track(ended: EndedCommand): void;
  /**
   * Sends SIGHUP, as a closing terminal does: processes that ignore it (`nohup`) or left the group
   * (`setsid`) continue.
   */
  hangUp(): void;
}

export interface EndedCommand {
  /** Null when no process was started. */
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
        // The leader has ended: a process that has its pid now is unrelated and has its own group.
        if (!sendSignal(leader, 0)) sendSignal(-leader, 'SIGHUP');
      }
      leaders.clear();
    },
  };
}

/** `disown` is internal to the shell, so the command's text is the only sign of it. */
function isDisowned(command: string): boolean {
  return /\bdisown\b/.test(command);
}

/** Also false where process groups do not exist. */
function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}
