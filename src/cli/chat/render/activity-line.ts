import type { HandlerProgress } from '../../../hooks/dispatch-record.ts';
import { toOneLine } from '../../output/print.ts';

const SLOW_AFTER_MS = 1000;

/** The line about the current activity: what the agent does, or the slow hooks it waits for. */
export interface ActivityLine {
  set(text: string | null): void;
  readonly observe: (progress: HandlerProgress) => void;
  /** Stops updates, also for hooks that end later. */
  end(): void;
}

export function createActivityLine(show: (text: string | null) => void): ActivityLine {
  const running = new Map<string, NodeJS.Timeout>();
  const slow = new Set<string>();
  let activity: string | null = null;
  let isEnded = false;
  const draw = (): void => {
    const names = [...slow].map(toOneLine).join(', ');
    show(names === '' ? activity : `waiting for ${names} …`);
  };
  return {
    set(text) {
      if (isEnded) return;
      activity = text;
      draw();
    },
    observe({ type, hook }) {
      if (isEnded) return;
      clearTimeout(running.get(hook));
      running.delete(hook);
      if (type === 'end') {
        if (slow.delete(hook)) draw();
        return;
      }
      const showSlow = (): void => {
        slow.add(hook);
        draw();
      };
      running.set(hook, setTimeout(showSlow, SLOW_AFTER_MS));
    },
    end() {
      isEnded = true;
      for (const timer of running.values()) clearTimeout(timer);
      running.clear();
    },
  };
}
