/** Makes a value when it is first asked for, and gives the same one ever after. */
export function memoize<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null;
  return () => (made ??= { value: make() }).value;
}

/** Asks anew in every wave, and each time when there is none; all calls of one wave get the same. */
export function memoizePerWave<Value>(ask: () => Value): (wave?: number) => Value {
  let last: { readonly wave: number | undefined; readonly value: Value } | null = null;
  return (wave) => {
    if (last === null || wave === undefined || last.wave !== wave) {
      last = { wave, value: ask() };
    }
    return last.value;
  };
}
