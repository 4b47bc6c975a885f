import type { ClineCoreOptions } from '../start-input.ts';
import { createUnsupportedError } from '../errors.ts';

/** `ClineCore` as far as plugins use it. */
export interface CoreMaker {
  create(options?: ClineCoreOptions): Promise<object>;
}

type LoadCore = () => Promise<CoreMaker>;

let loadCore: LoadCore | null = null;

/** Says where `ClineCore` is had from; whoever runs plugins does, because it in turn runs plugins. */
export function setClineCoreLoader(load: LoadCore): void {
  loadCore = load;
}

/** `ClineCore` as plugins import it: most name it and never use it, so that it is loaded when they do. */
export const lazyClineCore = Object.freeze({
  async create(options: ClineCoreOptions = {}): Promise<object> {
    if (loadCore === null) {
      throw createUnsupportedError(
        'sessions for plugins in this program',
        'Start them in a program of your own.',
      );
    }
    return (await loadCore()).create(options);
  },
  [Symbol.hasInstance]: (value: unknown): boolean =>
    typeof value === 'object' && value !== null && value.constructor.name === 'ClineCore',
});
