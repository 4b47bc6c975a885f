import path from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { HooklineError } from '../../base/errors.ts';
import { namedFileHook } from '../../dialects/cline-files/dialect.ts';
import type { FileHookName } from '../../dialects/cline-files/names.ts';
import { StdioHookRunner as FileHookRunner } from '../../dialects/cline-files/runners.ts';
import type { Moment } from '../../hooks/facts.ts';
import { childEnvironment } from '../../process/environment.ts';
import { loadConfig, readSurroundings } from '../config.ts';
import { fileHookOptions } from '../file-hooks.ts';
import { createMoment } from '../moment.ts';

export interface StdioHookOptions<Name extends FileHookName> {
  readonly name: Name;
  /** The executable or script. Naming it here is the decision to run it: trust is not asked. */
  readonly path: string;
  readonly timeoutMs?: number;
  /** Where the hook runs, and what it is told of the session. */
  readonly moment?: Partial<Moment>;
}

/** Runs one executable: JSON on its stdin, JSON from its stdout. */
export class StdioHookRunner<
  Name extends FileHookName = FileHookName,
> extends FileHookRunner<Name> {
  readonly path: string;

  constructor(options: StdioHookOptions<Name>) {
    const surroundings = readSurroundings();
    const file = path.resolve(surroundings.cwd, options.path);
    const { settings } = loadConfig({
      homeFile: null,
      workspaceFiles: [],
      env: surroundings.env,
      flags: {},
    });
    const hook = namedFileHook(file, options.name, fileHookOptions(surroundings, settings));
    if ('why' in hook) {
      throw new HooklineError('HOOK_UNKNOWN', {
        message: `expected a hook at ${file}, but it ${hook.why}`,
        hint: 'Give the path of an executable or a script.',
      });
    }
    const handlers = hook.toHandlers({
      onFailure: 'open',
      timeoutMs: options.timeoutMs ?? settings['hooks.timeoutMs'],
      environment: childEnvironment({
        base: surroundings.env,
        withhold: [],
        pass: [],
        add: {},
        platform: surroundings.platform,
      }),
      withheld: () => null,
    });
    const moment = createMoment({ surroundings, clock: systemClock, known: options.moment ?? {} });
    super({ name: options.name, id: `file:${file}`, handlers, moment });
    this.path = file;
  }
}
