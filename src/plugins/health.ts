import type { OnIssue } from './diagnostic.ts';
import type { HookName } from './contract/runtime-hooks.ts';

/** How often a plugin's hook may fail before it is switched off. */
const STRIKES = 3;

/** Counts what goes wrong with the hooks of one plugin, and switches them off when it is too much. */
export interface Health {
  isOff(hook: HookName): boolean;
  /** Says aloud that a hook failed; the third time in a session it is switched off. */
  strike(hook: HookName, message: string): void;
  /** The same of one that is never switched off. */
  complain(hook: HookName, message: string): void;
  lastError(): string | null;
}

export function createHealth(plugin: string, onIssue: OnIssue): Health {
  const strikes = new Map<HookName, number>();
  let lastError: string | null = null;
  const complain = (hook: HookName, message: string): void => {
    lastError = `${hook}: ${message}`;
    onIssue({ plugin, phase: 'hook', level: 'warning', message: `${hook} failed: ${message}` });
  };
  return {
    isOff: (hook) => strikes.size > 0 && (strikes.get(hook) ?? 0) >= STRIKES,
    strike(hook, message) {
      const count = (strikes.get(hook) ?? 0) + 1;
      if (count > STRIKES) return;
      strikes.set(hook, count);
      complain(hook, message);
      if (count < STRIKES) return;
      const off = `${hook} failed ${STRIKES} times and is switched off for this session`;
      onIssue({ plugin, phase: 'hook', level: 'error', message: off });
    },
    complain,
    lastError: () => lastError,
  };
}
