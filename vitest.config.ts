import os from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Long enough for a test that shares its machine with many other programs. */
const TEST_LIMIT_MS = 5 * 60_000;
/** Shorter, so that a failure says what was waited for. */
const WAIT_LIMIT_MS = 4 * 60_000;

/**
 * Starts the files that take longest first, so that no worker is alone with one at the end. Files
 * that allocate hundreds of megabytes are among them, because each collection takes the longer the
 * more modules the worker has loaded.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => Number(isLong(other)) - Number(isLong(one)));
  }
}

const LONG =
  /\/test\/(faults\/event-input|mcp\/bounded-fetch|conformance\/claude-host|conformance\/claude-config|dialects\/(claude|cline-files)\/templates|e2e|host\/open-sandbox-commands|malicious|plugins\/isolation\/(endings|tools)|cli\/commands\/plugin\/(install|list))\b/;

function isLong({ moduleId }: TestSpecification): boolean {
  return LONG.test(moduleId);
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/disable-async-storages.ts'],
    testTimeout: TEST_LIMIT_MS,
    hookTimeout: TEST_LIMIT_MS,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: WAIT_LIMIT_MS, interval: 20 }, requireAssertions: true },
    // Files that share a worker share the modules of src, which take longer to load than most files to run.
    isolate: false,
    // What was built is loaded as its users load it.
    server: { deps: { external: [/\/dist\//] } },
    // Most tests wait for programs that they started.
    maxWorkers: os.availableParallelism() * 2,
    sequence: { sequencer: LongestFirst },
    coverage: {
      provider: 'v8',
      include: ['src/**'],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { lines: 85 },
      reportOnFailure: true,
    },
  },
});
