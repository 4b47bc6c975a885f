import { expect } from 'vitest';
import type { HostOptions } from '../../../../../src/host/create-host.ts';
import { bash, command, type Group, hooks, type Setup, type OpenFixture } from '../../fixture.ts';
import { fieldsAt, observed } from '../../recording.ts';
import { openManagedFixture } from '../../managed.ts';

const names = (source: string): object =>
  hooks('PreToolUse', [command(`echo ${source} >> ran.log`)]);

interface Switched {
  /** Settings that stand beside the hooks of each source. */
  readonly user?: object;
  readonly proj?: object;
  readonly local?: object;
  readonly flag?: object;
  /** Null when there is no managed file. */
  readonly managed?: object;
  readonly host?: HostOptions;
  /** Where we differ from the recording. */
  readonly ran?: string;
}

const OFF = { disableAllHooks: true };
const ON = { disableAllHooks: false };

const SWITCHED: Readonly<Record<string, Switched>> = {
  base: {},
  disable_user: { user: OFF },
  disable_proj: { proj: OFF, ran: 'plugin user' },
  disable_local: { local: OFF, ran: 'plugin user' },
  user_true_proj_false: { user: OFF, proj: ON, ran: '' },
  flag: { flag: OFF },
  m_base: { managed: {} },
  m_user_disable: { managed: {}, user: OFF },
  m_disable: { managed: OFF },
  m_only: { managed: { allowManagedHooksOnly: true } },
  m_pluginonly: { managed: { strictPluginOnlyCustomization: ['hooks'] } },
  only_in_user: { user: { allowManagedHooksOnly: true } },
  bare: { host: { flags: { 'hooks.enabled': false } } },
  // There is no such option here, so all sources are read.
  sources_user: { ran: 'local plugin proj user' },
  sources_none: { ran: 'local plugin proj user' },
};

export const disabling: Group = {
  name: '37-disable-managed',
  cases: Object.entries(SWITCHED).map(([name, switched]) => ({
    name,
    run: (openFixture: OpenFixture) => runsOnly(openFixture, name, switched),
  })),
};

async function runsOnly(openFixture: OpenFixture, name: string, switched: Switched): Promise<void> {
  const { user, proj, local, flag, managed, host = {}, ran } = switched;
  const setup: Setup = {
    user: { ...names('user'), ...user },
    project: { ...names('proj'), ...proj },
    local: { ...names('local'), ...local },
    ...(flag === undefined ? {} : { flag }),
    plugins: ['plug'],
    host,
    beside: { 'plug/hooks/hooks.json': names('plugin') },
  };
  const expected = ran ?? fieldsAt(observed('37-disable-managed'))[name];
  const fixture =
    managed === undefined
      ? await openFixture(setup)
      : await openManagedFixture(openFixture, setup, { ...names('managed'), ...managed });
  await fixture.fire('PreToolUse', bash('echo hi'));
  expect(fixture.lines('ran.log').toSorted().join(' ')).toBe(expected);
}
