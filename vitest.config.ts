import { defineConfig } from 'vitest/config';

/** Long enough for a test that shares its machine with many other programs. */
const TEST_LIMIT_MS = 5 * 60_000;
/** Shorter, so that a failure says what was waited for. */
const WAIT_LIMIT_MS = 4 * 60_000;

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: TEST_LIMIT_MS,
    hookTimeout: TEST_LIMIT_MS,
    expect: { poll: { timeout: WAIT_LIMIT_MS, interval: 20 }, requireAssertions: true },
    // Most tests wait for programs that they started.
    maxWorkers: '100%',
    coverage: {
      provider: 'v8',
      include: ['src/**'],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { lines: 85 },
    },
  },
});
