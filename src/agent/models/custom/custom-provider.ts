import type { Model } from '../model.ts';
import type { ModelChoice } from '../providers.ts';

/** A provider that a plugin or a program brought, beside those that Hookline has itself. */
export interface CustomProvider {
  readonly id: string;
  /** `service`: an address that speaks a known format. `handler`: code that makes the answers. */
  readonly kind: 'service' | 'handler';
  /** Who brought it, for sentences: `the plugin "x"`. */
  readonly from: string;
  /** Opens one of its models. Nothing is sent yet. Throws HooklineErrors only. */
  open(choice: CustomChoice): Promise<Model>;
}

export interface CustomChoice extends ModelChoice {
  /** Variables with keys of Hookline's own providers that may go anywhere, as the person said. */
  readonly passedKeys: readonly string[];
}

/** Where a model's provider is looked for when its name is none of Hookline's own. */
export interface CustomProviders {
  find(id: string): CustomProvider | null;
  ids(): readonly string[];
}
