import { expect } from 'vitest';
import { isEventName } from '../../../../../src/hooks/events.ts';
import { command, type Group, hooks, type Stage } from '../../build.ts';
import { listAt, observed } from '../../recording.ts';

/** A row: mode, event, permission_mode, effort, CLAUDE_EFFORT, agent_type. */
export const modes: Group = {
  name: '30-modes',
  cases: listAt(observed('30-modes'), 'modes').map((row) => {
    const [mode, event, ...recorded] = listAt(row);
    const name = String(event);
    return {
      name: `${String(mode)} ${name}`,
      run: async (stage: Stage) => {
        if (!isEventName(name)) throw new TypeError(`${name} is no event`);
        const { fire, lines } = await stage({
          project: hooks(name, [
            command(
              'jq -c "[.permission_mode, .effort, env.CLAUDE_EFFORT, .agent_type]" > seen.log',
            ),
          ]),
        });
        const moment = { permissionMode: String(mode).replace(/^m-/u, ''), effort: 'high' };
        await fire(name, moment);
        expect(JSON.parse(lines('seen.log')[0] ?? '')).toEqual(recorded);
      },
    };
  }),
};
