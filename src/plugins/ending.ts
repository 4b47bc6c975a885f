const endings = new WeakMap<object, () => string | null>();

/** Lets be known how a plugin ended that does not live in this process. */
export function markEnding<Plugin extends object>(
  plugin: Plugin,
  ended: () => string | null,
): Plugin {
  endings.set(plugin, ended);
  return plugin;
}

/** Why nothing of a plugin works any more; null while it does. */
export function endingOf(plugin: object): string | null {
  return endings.get(plugin)?.() ?? null;
}

/** How to ask that again and again; null for one that lives in this process, and cannot end by itself. */
export function endingReader(plugin: object): (() => string | null) | null {
  return endings.get(plugin) ?? null;
}
