// The smallest agent with a hook point: it wants to run one tool call.
import { clineFiles, createHookEngine, isRefusal } from 'hookline/hooks';

const [workspace, command] = process.argv.slice(2);
const input = { command };

const engine = createHookEngine({
  // The person who runs this example is its author, so everything may run.
  sources: [clineFiles({ roots: [workspace], trust: 'all' })],
  moment: { cwd: workspace, workspaceRoots: [workspace] },
});
const verdict = await engine.dispatch({ name: 'PreToolUse', tool: { callId: '1', name: 'Bash', input } });

if (isRefusal(verdict.effect)) console.log('refused:', verdict.reasons.map(({ text }) => text).join('\n'));
else console.log('runs:', (verdict.input ?? input).command);
