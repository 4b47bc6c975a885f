import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Most tests wait for programs that they started.
    maxWorkers: '100%',
    coverage: {
      provider: 'v8',
      include: ['src/hooks/**', 'src/process/**', 'src/dialects/**'],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { lines: 90 },
    },
  },
});
