import { createRequire } from 'node:module';
import type * as redosDetector from 'redos-detector';
import type { PatternScreen } from '../../../hooks/matcher.ts';
import { type ClaudeEvent, isGate } from '../events.ts';

const MAX_STEPS = 5000;
// The steps bound the work; a machine that is busy may take its time for them.
const TIMEOUT_MS = 2000;

/**
 * Lets a pattern run natively only if it can backtrack a little at most. A guard whose pattern may
 * not run is asked each time rather than never.
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

// Synchronous, as matchers are compiled while hooks are looked for; hardly any pattern needs it.
function loadDetector(): typeof redosDetector {
  const load: (name: string) => typeof redosDetector = createRequire(import.meta.url);
  return load('redos-detector');
}
