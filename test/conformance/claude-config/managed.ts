import path from 'node:path';
import { createClaudeDiscoverer } from '../../../src/dialects/claude/discover.ts';
import { findClaudePlaces, createClaudeSession } from '../../../src/dialects/claude/session.ts';
import { createMachine } from '../../../src/host/dialect-machine.ts';
import { createHookSet } from '../../../src/host/hook-set.ts';
import { createHookEngine } from '../../../src/hooks/engine.ts';
import { createSampleEvent } from '../../../src/testing/sample-event.ts';
import { hostOptions, type Setup, type OpenFixture, type Fixture } from './fixture.ts';

const DIRECTORY = 'managed';

/** A fixture with an administrator's settings: their path is fixed, so the dialect is called directly. */
export async function openManagedFixture(openFixture: OpenFixture, setup: Setup, settings: object): Promise<Fixture> {
  const file = `${DIRECTORY}/managed-settings.json`;
  const fixture = await openFixture({ ...setup, beside: { ...setup.beside, [file]: settings } });
  const { directory, host } = fixture;
  const { surroundings, stateDirectory, config } = host;
  const search = hostOptions(setup, fixture);
  const machine = createMachine({ ...host, startDirectory: fixture.root }, search);
  const managedDirectory = path.join(directory, DIRECTORY);
  const claudePlaces = { ...findClaudePlaces(machine), managedDirectory };
  const hookSet = createHookSet({
    untrusted: [],
    dialects: [createClaudeDiscoverer(claudePlaces, createClaudeSession(machine), search.ports ?? {})],
    settings: config.settings,
    surroundings,
    stateDirectory,
    configFile: null,
    trust: null,
    sessionId: () => host.moment().sessionId,
  });
  const engine = createHookEngine({ sources: [hookSet], moment: () => host.moment() });
  return {
    ...fixture,
    fire: (name, facts = {}) => engine.dispatch(createSampleEvent(name, facts)),
    dispatch: (event) => engine.dispatch(event),
  };
}
