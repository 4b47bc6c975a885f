/** Calls a method of a foreign object as its author means it, with the object as `this`; without one, nothing happens. */
export function callMethod(owner: object, name: string, args: readonly unknown[]): unknown {
  const method: unknown = Reflect.get(owner, name);
  const result: unknown =
    typeof method === 'function' ? Reflect.apply(method, owner, args) : undefined;
  return result;
}

/** A copy without some fields; what is in them is not looked at. */
export function without<Thing extends object, Key extends keyof Thing & string>(
  thing: Thing,
  keys: readonly Key[],
): Omit<Thing, Key> {
  const kept: Partial<Thing> = { ...thing };
  for (const key of keys) delete kept[key];
  return kept as Omit<Thing, Key>;
}
