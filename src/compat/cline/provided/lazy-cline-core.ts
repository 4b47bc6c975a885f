import type { ClineCoreOptions } from '../start-input.ts';
import { createUnsupportedError } from '../errors.ts';

/** Loads `ClineCore`, of which plugins use only `create`. */
type LoadCore = () => Promise<{ create(options?: ClineCoreOptions): Promise<object> }>;

let loadCore: LoadCore | null = null;

/** Sets the loader of `ClineCore`: a static import would be a cycle, because `ClineCore` runs plugins. */
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
    typeof value === 'object' && value !== null && value.constructor?.name === 'ClineCore',
});
