import { memoize } from '../../base/memoize.ts';
import type { RunProgram } from '../../process/run.ts';
import { createRefusal, runInSandbox } from '../../process/sandbox/run-in-sandbox.ts';
import type { SandboxProfileName } from '../../process/sandbox/profile.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import { probeHostSandbox } from './open-sandbox.ts';
import { prepareSandbox, SessionPlaces } from './prepare-sandbox.ts';

/** Runs hooks in sandboxes of their own kind: without deny rules, which are about the agent. */
export interface HookSandboxes {
  readonly run: (profile: SandboxProfileName) => RunProgram;
  close(): void;
}

/** `getOpened` is called when the first such hook runs. */
export function createHookSandboxes(getOpened: () => OpenedHooks): HookSandboxes {
  const places = new SessionPlaces();
  const open = memoize(async () => {
    const parts = { opened: getOpened(), permissions: null };
    const probe = await probeHostSandbox(parts.opened);
    return probe.works ? ((await prepareSandbox(probe, parts, places)) ?? '') : probe.why;
  });
  return {
    run: (profile) => async (program, options) => {
      const sandbox = await open();
      const entered = typeof sandbox === 'string' ? sandbox : sandbox.enterAs(profile, program);
      if (typeof entered === 'string') {
        return createRefusal(`It was not started, because its sandbox cannot be made: ${entered}`);
      }
      return await runInSandbox(program, entered, options);
    },
    close: () => places.close(),
  };
}
