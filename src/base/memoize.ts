/** Computes a value on the first call and returns the same one on every later call. */
export function memoize<Value>(compute: () => Value): () => Value {
  let cached: { readonly value: Value } | null = null;
  return () => (cached ??= { value: compute() }).value;
}

/** Computes a value once per list of texts. */
export function memoizePerList<Value>(
  compute: (key: readonly string[]) => Value,
): (key: readonly string[]) => Value {
  const cached = new Map<string, { readonly value: Value }>();
  return (list) => {
    const key = list.join('\0');
    const entry = cached.get(key) ?? { value: compute(list) };
    cached.set(key, entry);
    return entry.value;
  };
}

/** Computes a value once per wave; a call without a wave always computes it. */
export function memoizePerWave<Value>(compute: () => Value): (wave?: number) => Value {
  let last: { readonly wave: number | undefined; readonly value: Value } | null = null;
  return (wave) => {
    if (last === null || wave === undefined || last.wave !== wave) {
      last = { wave, value: compute() };
    }
    return last.value;
  };
}

/** Computes a value once per object, for as long as the object lives. */
export function memoizePerObject<Key extends object, Value>(
  compute: (key: Key) => Value,
): (key: Key) => Value {
  const cached = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    const entry = cached.get(key) ?? { value: compute(key) };
    cached.set(key, entry);
    return entry.value;
  };
}
