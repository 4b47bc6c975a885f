import { expect } from 'vitest';
import { isEventName } from '../../../../../src/hooks/events.ts';
import { command, type Group, hooks, records, type OpenFixture } from '../../fixture.ts';
import { listAt, observed } from '../../recording.ts';

/** A row: mode, event, permission_mode, effort, CLAUDE_EFFORT, agent_type. */
export const modes: Group = {
  name: '30-modes',
  cases: listAt(observed('30-modes'), 'modes').map((row) => {
    const [mode, event, ...rest] = listAt(row);
    const name = String(event);
    return {
      name: `${String(mode)} ${name}`,
      run: async (openFixture: OpenFixture) => {
        if (!isEventName(name)) throw new TypeError(`${name} is no event`);
        const { fire, recorded } = await openFixture({
          project: hooks(name, [command(records('seen.log', '${CLAUDE_EFFORT-none}'))]),
        });
        const moment = { permissionMode: String(mode).replace(/^m-/u, ''), effort: 'high' };
        await fire(name, moment);
        const reports = recorded('seen.log').map(({ texts: [variable], payload }) => [
          payload['permission_mode'] ?? null,
          payload['effort'] ?? null,
          variable === 'none' ? null : variable,
          payload['agent_type'] ?? null,
        ]);
        expect(reports).toEqual([rest]);
      },
    };
  }),
};
