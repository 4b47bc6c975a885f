import { z } from 'zod';
import type { Setting } from '../../src/base/setting.ts';
import { SETTINGS } from '../../src/host/settings.ts';
import { text } from './fields.ts';

/** Every setting with its meaning and its default, by full name. */
export const CONFIG_VALUES: z.ZodRawShape = Object.fromEntries(
  Object.entries(SETTINGS).map(([name, setting]) => [name, settingSchema(setting)]),
);

function settingSchema({ schema, description, defaultValue }: Setting): z.ZodType {
  return z.fromJSONSchema(schema).meta({ description, default: defaultValue }).optional();
}

/** A configuration file; `hooks.enabled` is written as `{"hooks": {"enabled": …}}`. */
export const CONFIG = z.strictObject({
  $schema: text('Where the schema of this file lies, for editors.').optional(),
  ...Object.fromEntries(settingGroups()),
});

function settingGroups(): [string, z.ZodType][] {
  const groups = new Map<string, z.ZodRawShape>();
  for (const [name, value] of Object.entries(CONFIG_VALUES)) {
    const [group = '', key = ''] = name.split('.');
    groups.set(group, { ...groups.get(group), [key]: value });
  }
  return [...groups].map(([group, settings]) => [
    group,
    z.strictObject(settings).describe(`Settings whose name begins with "${group}."`).optional(),
  ]);
}
