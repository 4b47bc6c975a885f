import { isRecord } from '../../base/json.ts';

/** What a plugin calls itself; null when it does not. */
export function nameOf(plugin: unknown): string | null {
  const name = quietly(() => (isRecord(plugin) ? plugin['name'] : null));
  return typeof name === 'string' && name.trim() !== '' ? name : null;
}

/** The providers or models that it says it is made for; none means all. */
export function targetsOf(plugin: unknown, key: 'providerIds' | 'modelIds'): readonly string[] {
  const given = quietly(() => {
    const manifest = isRecord(plugin) ? plugin['manifest'] : null;
    return isRecord(manifest) ? manifest[key] : null;
  });
  if (!Array.isArray(given)) return [];
  const texts = given.filter((each) => typeof each === 'string');
  return texts.map((each) => each.trim()).filter((each) => each !== '');
}

/** Getters of foreign objects may throw, of which the registry tells. */
function quietly(look: () => unknown): unknown {
  try {
    return look();
  } catch {
    return null;
  }
}
