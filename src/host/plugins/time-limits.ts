import type { PluginOptions } from './plugin-options.ts';

const HOOK_TIMEOUT_MS = 60_000;
const IMPORT_TIMEOUT_MS = 30_000;
const SETUP_TIMEOUT_MS = 30_000;
const DISPOSE_TIMEOUT_MS = 3_000;

/** How long plugins may take for what they do. */
export function timeLimits(options: PluginOptions) {
  const hookTimeoutMs = options.hookTimeoutMs ?? HOOK_TIMEOUT_MS;
  return {
    hookTimeoutMs,
    importTimeoutMs: options.importTimeoutMs ?? IMPORT_TIMEOUT_MS,
    setupTimeoutMs: options.setupTimeoutMs ?? SETUP_TIMEOUT_MS,
    disposeTimeoutMs: Math.min(hookTimeoutMs, DISPOSE_TIMEOUT_MS),
  };
}
