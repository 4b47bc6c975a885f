import path from 'node:path';
import { CLIENT_SECRET_HEADER, EVENT_ID_HEADER, SERVER_SECRET_HEADER } from '../protocol.ts';

/** Absolute paths that stand in the script, so that none of them comes from the environment. */
export interface ShellFormPaths {
  readonly home: string;
  readonly runFile: string;
  readonly nodePath: string;
  /** `dist/bin/agent-hook.js` of this package. */
  readonly programPath: string;
}

/** More is left to Node, because a shell reads and writes it slowly. */
const MOST_BYTES = 256 * 1024;
const INPUT_SECONDS = 5;
const ANSWER_SECONDS = 0.15;

/**
 * The program that an agent's entry starts, for bash 4.1 or newer: it sends the event itself, in a fraction of the time that
 * Node needs to start. Whatever it cannot do, it leaves to Node, and so does every other shell.
 *
 * `-p` keeps bash from running BASH_ENV and from taking functions and options from the environment. `env -i` keeps NODE_OPTIONS
 * and the like from Node. What is loaded into the shell itself (LD_PRELOAD) cannot be kept out by the shell.
 */
export function formatShellForm(
  paths: ShellFormPaths,
  answerSeconds: number = ANSWER_SECONDS,
): string {
  return `#!/bin/bash -p
${formatNodeCall(paths)}
# Only bash has it, from version 4 on; PATH names no directory that an agent can write.
command -v mapfile >&2 || run_node
set +o posix
unset -v TMOUT
trap '' PIPE
LC_ALL=C
to_node() {
  exec 3>&-
  printf '%s' "$body" | run_node "$@"
  exit 0
}
IFS= read -r -N ${MOST_BYTES} -t ${INPUT_SECONDS} body
case $? in
  0) { printf '%s' "$body"; exec cat; } | run_node; exit 0 ;;
  1) ;;
  *) to_node ;;
esac
run=${quote(paths.runFile)}
[[ -O $run && ! -L $run ]] || to_node
{ read -r mark && read -r _ port && read -r _ pid && read -r _ started && read -r _ && read -r _ && read -r _ client && read -r _ server; } <"$run" || to_node
[[ $mark == 'hookline-bridge 1' ]] || to_node
case $port-$pid-$started in *[!0-9-]* | *-- | -* | *-) to_node ;; esac
# A process that still runs holds its port, so nobody else can listen there.
read -r stat <"/proc/$pid/stat" || to_node
stat=(\${stat##*) })
[[ \${stat[19]} == "$started" && \${stat[0]} != Z ]] || to_node
read -r id </proc/sys/kernel/random/uuid || to_node
exec 3<>"/dev/tcp/127.0.0.1/$port" || to_node
printf 'POST /%s-hook HTTP/1.1\\r\\nHost: 127.0.0.1:%s\\r\\nContent-Type: application/json\\r\\n${EVENT_ID_HEADER}: %s\\r\\n${CLIENT_SECRET_HEADER}: %s\\r\\nContent-Length: %s\\r\\nConnection: close\\r\\n\\r\\n%s' "$agent" "$port" "$id" "$client" "\${#body}" "$body" >&3 || to_node --event-id "$id" --to-file
IFS= read -r -N 8192 -t ${answerSeconds} -u 3 answer
[[ $answer == 'HTTP/1.1 200 '* && $answer == *"${SERVER_SECRET_HEADER}: $server"* ]] && exit 0
to_node --event-id "$id" --to-file
`;
}

/** The same for a machine without a bash that can do it. */
export function formatNodeForm(paths: ShellFormPaths): string {
  return `#!/bin/sh
${formatNodeCall(paths)}
run_node
`;
}

/** In the language of every shell. An agent may take whatever a hook prints, or its exit code, for a decision. */
function formatNodeCall({ home, runFile, nodePath, programPath }: ShellFormPaths): string {
  const stateDirectory = path.dirname(path.dirname(runFile));
  return `# Sends one event of an agent to Hookline. Written by \`hookline agents enable\`.
exec >/dev/null 2>&1
PATH=/usr/bin:/bin
agent=$1
case $agent in '' | *[!a-z0-9-]*) exit 0 ;; esac
run_node() {
  env -i ${quote(nodePath)} ${quote(programPath)} "$agent" --home ${quote(home)} --state ${quote(stateDirectory)} "$@"
  exit 0
}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
