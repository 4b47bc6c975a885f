import type { HandlerProgress } from '../../hooks/dispatch-record.ts';
import { toOneLine, type Printer } from './print.ts';

/** From this time on a hook is slow: it is named while it runs, and afterwards. */
export const SLOW_HOOK_MS = 1000;

/**
 * Shows on a terminal which slow hooks are running. `note` is called once for each of them where there is no
 * terminal, because a silent wait looks like a hang there, too.
 */
export function createHookProgress(print: Printer, note: (text: string) => void = () => undefined) {
  const running = new Map<string, NodeJS.Timeout>();
  const slow = new Set<string>();
  const show = (): void => {
    const names = [...slow].map(toOneLine).join(', ');
    print.progress(names === '' ? null : `waiting for ${names} …`);
  };
  return {
    observe({ type, hook }: HandlerProgress): void {
      clearTimeout(running.get(hook));
      running.delete(hook);
      if (type === 'end') {
        if (slow.delete(hook)) show();
        return;
      }
      const showSlow = (): void => {
        slow.add(hook);
        show();
        if (!print.isTerminal) note(`waiting for ${toOneLine(hook)} …`);
      };
      running.set(hook, setTimeout(showSlow, SLOW_HOOK_MS));
    },
    end(): void {
      for (const timer of running.values()) clearTimeout(timer);
      print.progress(null);
    },
  };
}
