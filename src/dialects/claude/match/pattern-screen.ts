import { createRequire } from 'node:module';
import type * as redosDetector from 'redos-detector';
import type { PatternScreen } from '../../../hooks/matcher.ts';
import { type ClaudeEvent, isGate } from '../events.ts';

const MAX_STEPS = 5000;
// The number of steps limits the work; the timeout is generous for busy machines.
const TIMEOUT_MS = 2000;

/**
 * Accepts only patterns with little backtracking. A guard with a rejected pattern runs at each event
 * rather than never.
 */
export function createPatternScreen(event: ClaudeEvent): PatternScreen {
  const otherwise = isGate(event);
  return (pattern) => {
    const why = findDanger(pattern);
    return why === null ? { safe: true, otherwise } : { safe: false, why, otherwise };
  };
}

function findDanger(pattern: RegExp): string | null {
  try {
    const limits = { maxSteps: MAX_STEPS, timeout: TIMEOUT_MS };
    const { safe, error } = loadDetector().isSafe(pattern, limits);
    return safe ? null : DANGERS[error];
  } catch {
    return 'it could not be checked';
  }
}

const DANGERS = {
  hitMaxScore: 'it can backtrack too often',
  hitMaxSteps: 'it is too intricate to be checked',
  timedOut: 'checking it takes too long',
} as const;

// Required on first use: few patterns need it, and matchers are compiled synchronously.
function loadDetector(): typeof redosDetector {
  const load: (name: string) => typeof redosDetector = createRequire(import.meta.url);
  return load('redos-detector');
}
