import { describe, expect, it } from 'vitest';
import { jsonOf, runHookline } from '../cli/hookline.ts';
import { trust, write } from '../cli/temp-workspace.ts';
import { ATTACKS, continueAttack, homeOf, type StagedAttack, prepareAttack } from './attack.ts';

const PLUGIN_ATTACKS = ATTACKS.filter((name) => name.startsWith('plugin-'));

describe('a whole run', () => {
  it.each(PLUGIN_ATTACKS)('in %s imports nothing', async (name) => {
    const staged = prepareAttack(name);
    const before = homeOf(staged);
    const { code, stdout, stderr } = await run(staged);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'done\n' });
    expect(homeOf(staged)).toEqual(before);
    const isTold = Object.values(await statesIn(staged)).every((state) => state !== 'ready');
    expect(isTold).toBe(true);
    expect(stderr).not.toMatch(/^ {4}at /m);
  });

  it('says which plugins it did not load', async () => {
    const staged = prepareAttack('plugin-in-repo');
    const { stderr } = await run(staged);
    expect(stderr).toContain('it was never trusted here');
  });
});

it('does not load what a link leads to elsewhere in the name of a package', async () => {
  const staged = prepareAttack('plugin-points-outside');
  expect(await statesIn(staged)).toEqual({
    'plugin:workspace:helpful': 'broken',
    'plugin:workspace:hidden': 'broken',
    'plugin:workspace:hidden~2': 'broken',
    'plugin:workspace:hidden~3': 'broken',
    'plugin:workspace:hidden~4': 'broken',
    'plugin:workspace:linked': 'untrusted',
  });
});

it('loads trusted plugins, and none of which a byte was swapped', async () => {
  const staged = prepareAttack('plugin-swapped');
  trust(staged);
  expect(await statesIn(staged)).toEqual({
    'plugin:workspace:harmless': 'ready',
    'plugin:workspace:packaged': 'ready',
  });
  const first = await run(staged);
  expect(first).toMatchObject({ code: 0, stderr: '' });

  continueAttack('plugin-swapped', staged);
  write(staged.repo, HELPER, `${PAYLOAD}export const helper = () => undefined;\n`);
  expect(await statesIn(staged)).toEqual({
    'plugin:workspace:harmless': 'modified',
    'plugin:workspace:packaged': 'modified',
  });
  const second = await run(staged);
  expect(second.code).toBe(0);
  expect(second.stderr).toContain('src/shared.ts changed since it was trusted');
  expect(second.stderr).toContain('node_modules/helper/index.js changed since it was trusted');
  expect(homeOf(staged)).toEqual({});
});

it('does not let a repository switch off the user’s own guard', async () => {
  const staged = prepareAttack('plugin-places-moved-by-direnv');
  const file = write(staged.home, 'Documents/Cline/Plugins/guard.ts', PLAIN);
  write(staged.repo, '.direnv/off.json', JSON.stringify({ disabledPlugins: [file] }));
  expect(await statesIn(staged)).toEqual({
    'plugin:home:payload': 'untrusted',
    'plugin:global:guard': 'ready',
  });
});

const HELPER = '.cline/plugins/package/node_modules/helper/index.js';
const PAYLOAD = `import { writeFileSync } from 'node:fs';
writeFileSync(process.env.HOME + '/pwned', '');
`;
const PLAIN = `export default { name: 'guard', manifest: { capabilities: ['tools'] }, setup() {} };\n`;

async function run(staged: StagedAttack) {
  const script = write(staged.directory, 'script.json', JSON.stringify([{ text: 'done' }]));
  return runHookline(['run', 'hello', '--script', script], staged.options);
}

/** Every plugin with its state. */
async function statesIn({ options }: StagedAttack): Promise<Record<string, string>> {
  const { hooks } = jsonOf(await runHookline(['hooks', 'list', '--json'], options));
  return Object.fromEntries(hooks.map(({ id, state }: Record<string, string>) => [id, state]));
}
