import { isDeepStrictEqual } from 'node:util';
import { getErrorMessage } from '../../../base/errors.ts';
import type { InputChange, InputInHand, ToolView, Vocabulary } from '../../../hooks/faces/faces.ts';

/** Copies of a call's input: what runs is what nobody can have changed without its being noticed. */
export class HandedInput implements InputInHand {
  readonly #handed: Handed[] = [];

  of(view: ToolView, vocabulary: Vocabulary): unknown {
    const known = this.#handed.find((handed) => handed.view === view);
    if (known !== undefined) return known.copy;
    const copy: unknown = structuredClone(view.input);
    this.#handed.push({ view, vocabulary, copy });
    return copy;
  }

  changes(): readonly InputChange[] {
    return this.#handed.flatMap(changesOf);
  }

  /** Nothing that a trace or a payload tells. */
  toJSON(): undefined {
    return undefined;
  }
}

interface Handed {
  readonly view: ToolView;
  readonly vocabulary: Vocabulary;
  readonly copy: unknown;
}

/** As JSON says it, once and for all: hooks still have theirs in hand, and programs read JSON. */
function changesOf({ view, vocabulary, copy }: Handed): InputChange[] {
  try {
    if (isDeepStrictEqual(copy, view.input)) return [];
    const input: unknown = JSON.parse(JSON.stringify(copy));
    return isDeepStrictEqual(input, view.input) ? [] : [{ view, vocabulary, input }];
  } catch (error) {
    const [why = ''] = getErrorMessage(error).split('\n');
    return [{ view, unusable: `hooks changed it in place to what JSON cannot say (${why})` }];
  }
}
