import { isRecord } from '../../base/json.ts';

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
