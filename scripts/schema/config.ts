import { z } from 'zod';
import { isSettingName, SETTINGS, type SettingName } from '../../src/host/settings.ts';
import { text, texts } from './fields.ts';

const POSITIVE = z.number().positive();

const VALUES: Readonly<Record<SettingName, z.ZodType>> = {
  'hooks.enabled': z.boolean(),
  'hooks.disabled': z.array(
    z.union([
      z.string(),
      z.strictObject({
        id: text('Id of the hook.'),
        root: text('The workspace in which it is off; absent for everywhere.').optional(),
        sha256: text('Hash of what an entry said when it was switched off.').optional(),
      }),
    ]),
  ),
  'hooks.timeoutMs': POSITIVE,
  'hooks.onFailure': z.enum(['open', 'block']),
  'hooks.overrides': z.record(
    z.string(),
    z.strictObject({
      timeoutMs: POSITIVE.describe('How long it may run, in milliseconds.').optional(),
      onFailure: z.enum(['open', 'block']).describe('What its failure means.').optional(),
      profile: z
        .enum(['classic', 'sdk'])
        .describe('The generation of Cline that it was written for.')
        .optional(),
    }),
  ),
  'cline.cancel': z.enum(['deny', 'stop']),
  'cline.maxContextChars': POSITIVE,
  'model.provider': z.string(),
  'model.id': z.string(),
  'model.baseUrl': z.string(),
  'model.key': z.string(),
  'agent.maxTurns': POSITIVE,
  'agent.stopCap': z.number().nonnegative(),
  'agent.compactAt': z.number().gt(0).lt(1),
  'plugins.isolation': z.enum(['none', 'process']),
  'web.allowPrivate': z.boolean(),
  'env.pass': texts('Names of environment variables.'),
  'trace.enabled': z.boolean(),
  'trace.maxFileBytes': POSITIVE,
  'trace.maxFiles': POSITIVE,
};

/** Every setting with its meaning and its default, by full name. */
export const CONFIG_VALUES: z.ZodRawShape = Object.fromEntries(
  Object.keys(SETTINGS)
    .filter(isSettingName)
    .map((name) => [name, settingSchema(name)]),
);

function settingSchema(name: SettingName): z.ZodType {
  const { description: about, defaultValue: standard } = SETTINGS[name];
  return VALUES[name].meta({ description: about, default: standard }).optional();
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
