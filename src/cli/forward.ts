import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import path from 'node:path';
import { forwardEvent } from '../bridge/forward/forward-event.ts';
import { type ForwarderArguments, parseArguments } from '../bridge/forward/parse-arguments.ts';
import { AGENT_NAME } from '../bridge/protocol.ts';

/**
 * The program of `claude-hook`, `cline-hook` and `hookline <agent>-hook`. It is one small file without packages, because an
 * agent starts it for every event. It prints nothing and exits 0 whatever happens: its answer would be taken for a
 * decision, and its failure must not stop an agent.
 */
const STDIN = 0;
const HELP_WORDS = new Set(['--help', '-h']);
const HELP = `Usage: <agent>-hook [--port <n>[,<n>...]] [--dir <directory>]
       <agent>-hook --enable | --disable | --status

Reads one event on stdin and posts it to the bridge, or stores it in a file when no bridge answers.
Prints nothing and exits 0.

  --port <n>   port of a bridge; repeatable, or a list (default: the bridge of \`hookline bridge serve\`, else 3043, 3045, 3044)
  --dir <dir>  directory of the file (default: ~/.cline/hook-events)
  --wait <ms>  how long a bridge may take to answer (default: 150)
  --enable     install the agent's hooks: \`hookline agents enable <agent>\`
  --disable    remove them
  --status     show whether they work
`;

// Errors have gone to the errors file, where that was possible.
process.on('uncaughtException', () => process.exit(0));
const [agent, args] = findAgent(import.meta.filename, process.argv.slice(2));
const options = parseArguments(args);
if (options.action !== null) switchAgent(options.action);
else if (options.unknown.some((word) => HELP_WORDS.has(word))) process.stdout.write(HELP);
else void forward(agent, options).finally(() => process.exit(0));

/** The build writes this program to `<agent>-hook.js` for two agents, and to `agent-hook.js`, which is passed one. */
function findAgent(file: string, words: readonly string[]): [string, readonly string[]] {
  const name = path.basename(file, '.js').replace(/-hook$/, '');
  if (name !== 'agent') return [name, words];
  return [(words[0] ?? '').replace(/-hook$/, ''), words.slice(1)];
}

async function forward(name: string, forwarded: ForwarderArguments): Promise<void> {
  if (!AGENT_NAME.test(name)) return;
  const home = forwarded.home ?? process.env['HOME'] ?? process.env['USERPROFILE'] ?? homedir();
  const configured = process.env['HOOKLINE_HOME'] ?? '';
  const ownDirectory = configured === '' ? path.join(home, '.hookline') : path.resolve(configured);
  await forwardEvent(name, forwarded, {
    cwd: process.cwd(),
    home,
    stateDirectory: forwarded.stateDirectory ?? ownDirectory,
    input: STDIN,
  });
}

/** `claude-hook --enable` is `hookline agents enable claude`, with the exit codes of the package that had this command. */
function switchAgent(action: string): void {
  const program = path.join(import.meta.dirname, 'hookline.js');
  process.removeAllListeners('uncaughtException');
  const words = ['agents', action, agent, '--as', 'agent-hooks', ...options.unknown];
  process.argv = [process.execPath, program, ...words];
  const load = createRequire(import.meta.filename);
  // `hookline <agent>-hook` has loaded it already, which ran no command.
  Reflect.deleteProperty(load.cache, load.resolve(program));
  load(program);
}
