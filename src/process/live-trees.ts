import { createTreeEnder } from './end-tree.ts';

const leaders = new Set<number>();
let isListening = false;

/** Remembers a program's tree until `forgetTree`, so that none outlives this process unnoticed. */
export function rememberTree(leaderPid: number): void {
  leaders.add(leaderPid);
  if (isListening) return;
  isListening = true;
  process.once('exit', killLiveTrees);
}

export function forgetTree(leaderPid: number): void {
  leaders.delete(leaderPid);
}

/** Kills everything that was started and has not ended; synchronous, because nothing else runs any more. */
function killLiveTrees(): void {
  for (const leader of leaders) createTreeEnder(leader).end('SIGKILL');
  leaders.clear();
}
