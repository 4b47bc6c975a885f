import { isDeepStrictEqual } from 'node:util';
import { getErrorMessage } from '../../base/errors.ts';
import type {
  InputChange,
  SharedInput,
  ToolView,
  Vocabulary,
} from '../../tool-vocabularies/tool-views.ts';

/**
 * Copies of a call's input that hooks may modify; every difference to the original is reported as a change.
 */
export class MutableInput implements SharedInput {
  readonly #copies: {
    readonly view: ToolView;
    readonly vocabulary: Vocabulary;
    readonly copy: unknown;
  }[] = [];

  of(view: ToolView, vocabulary: Vocabulary): unknown {
    const existing = this.#copies.find((each) => each.view === view);
    if (existing !== undefined) return existing.copy;
    const copy: unknown = structuredClone(view.input);
    this.#copies.push({ view, vocabulary, copy });
    return copy;
  }

  changes(): readonly InputChange[] {
    return this.#copies.flatMap(({ view, vocabulary, copy }) => findChange(view, vocabulary, copy));
  }

  /** Omitted from traces and payloads. */
  toJSON(): undefined {
    return undefined;
  }
}

/**
 * Serialized at once, because hooks keep a reference to their copy, and compared as JSON, because programs
 * read JSON.
 */
function findChange(view: ToolView, vocabulary: Vocabulary, copy: unknown): InputChange[] {
  try {
    if (isDeepStrictEqual(copy, view.input)) return [];
    const input: unknown = JSON.parse(JSON.stringify(copy));
    return isDeepStrictEqual(input, view.input) ? [] : [{ view, vocabulary, input }];
  } catch (error) {
    const [why = ''] = getErrorMessage(error).split('\n');
    return [
      {
        view,
        unusable: `hooks changed it in place to a value that cannot be written as JSON (${why})`,
      },
    ];
  }
}
