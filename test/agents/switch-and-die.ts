import { disableAgent, enableAgent } from '../../src/agents/switch-agents.ts';
import { createMachine } from './fixture.ts';

/** Switches an agent in a process of its own, which kills itself after so many steps. */
const [action, name = '', home = '', project = '', stepCount = '0'] = process.argv.slice(2);
let steps = 0;
const run = action === 'enable' ? enableAgent : disableAgent;
await run(createMachine(home, project), name, {
  scope: 'user',
  now: Date.now(),
  onStep() {
    steps += 1;
    if (steps === Number(stepCount)) process.kill(process.pid, 'SIGKILL');
  },
});
