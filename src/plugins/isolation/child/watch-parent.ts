import { Worker } from 'node:worker_threads';

/** How often it is looked after whether the host is still there. */
const EVERY_MS = 1000;

// Plain JavaScript, because a worker is started from text here: there is no file of it in a bundle.
const WATCH = `
const { parent, everyMs, ownGroup } = require('node:worker_threads').workerData;
const isGone = () => {
  if (process.ppid !== parent) return true;
  try { process.kill(parent, 0); return false; } catch (error) { return error.code === 'ESRCH'; }
};
setInterval(() => {
  if (isGone()) process.kill(ownGroup ? -process.pid : process.pid, 'SIGKILL');
}, everyMs);
`;

/**
 * Ends this process, with what it started, soon after the host is gone, also while a plugin is in an
 * endless loop and nothing else here runs any more.
 */
export function watchParent(): void {
  const worker = new Worker(WATCH, {
    eval: true,
    workerData: { parent: process.ppid, everyMs: EVERY_MS, ownGroup: process.platform !== 'win32' },
    // A plugin's own flags and loaders are nothing for it.
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 2 },
  });
  worker.on('error', () => undefined);
  worker.unref();
}
