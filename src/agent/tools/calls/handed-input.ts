import { isDeepStrictEqual } from 'node:util';
import {
  type FaceContext,
  type InputInHand,
  rewriteInput,
  type ToolCall,
  type ToolView,
  viewsOf,
  type Vocabulary,
} from '../../../hooks/faces/faces.ts';

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

  changed(call: ToolCall, context: FaceContext): { input: unknown } | null {
    const changed = this.#handed.filter(
      (handed) => !isDeepStrictEqual(handed.copy, handed.view.input) && isOf(handed, call, context),
    );
    if (changed.length === 0) return null;
    let { input } = call;
    for (const { view, vocabulary, copy } of changed) {
      const rewrite = { vocabulary, part: view.part, input: copy };
      const rewritten = rewriteInput({ name: call.name, input }, rewrite, context);
      // What the call has no words for is for its tool to refuse.
      input = rewritten.ok ? rewritten.input : copy;
    }
    return { input };
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

/** Whoever said another input after hooks had theirs in hand has seen what they made of it. */
function isOf({ view, vocabulary }: Handed, call: ToolCall, context: FaceContext): boolean {
  const now = viewsOf(call, vocabulary, context).find(({ part }) => part === view.part);
  return isDeepStrictEqual(now?.input, view.input);
}
