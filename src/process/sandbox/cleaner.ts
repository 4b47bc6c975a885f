import { spawn, type ChildProcess } from 'node:child_process';

/**
 * A shell that lives as long as this process, or a moment longer: when its input ends, it ends the
 * sandboxes that still run, and removes the placeholders that the claim file names. It reads single
 * characters, so that only little is written to it.
 */
export class Cleaner {
  readonly #process: ChildProcess;

  constructor(directory: string, claimFile: string) {
    this.#process = spawn('/bin/sh', ['-c', CLEANER, 'sh', directory, claimFile], {
      detached: true,
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    // Without it the claim file is what the next sandbox cleans up by.
    this.#process.on('error', ignoreError);
    this.#process.stdin?.on('error', ignoreError);
    this.#process.unref();
    unrefStream(this.#process.stdin);
  }

  /** Ends the group when this process is killed; until the returned function is called. */
  trackGroup(leader: number): () => void {
    this.#process.stdin?.write(`+ ${leader}\n`);
    return () => void this.#process.stdin?.write(`- ${leader}\n`);
  }

  /** Must be called when nothing is claimed and no group runs. */
  close(): void {
    this.#process.stdin?.end();
  }
}

// Says first that it removes placeholders and then looks for claims of others, as PlaceholderClaims explains.
const CLEANER = `
trap '' INT TERM HUP
groups=
while read -r sign leader; do
  case $sign in
    +) groups="$groups $leader" ;;
    -)
      left=
      for group in $groups; do [ "$group" = "$leader" ] || left="$left $group"; done
      groups=$left
      ;;
  esac
done
for group in $groups; do kill -9 "-$group" 2>/dev/null; done
read -r state < "$2" || exit 0
case $state in i-) rm -f -- "$2"; exit 0 ;; esac
printf ir 1<>"$2"
is_claimed() {
  for other in "$1"/*.claim; do
    [ "$other" != "$2" ] && read -r state < "$other" && case $state in
      c*) grep -qxF -- "$3" "$other" && return 0 ;;
    esac
  done
  return 1
}
while read -r line; do
  is_claimed "$1" "$2" "$line" && continue
  kind=\${line%% *}
  words=\${line#* }
  file=$(printf %bx "\${words%% *}")
  file=\${file%x}
  case $kind in
    d) rmdir -- "$file" ;;
    f) [ "$(cat < "$file")" = "$(printf %b "\${words#* }")" ] && rm -f -- "$file" ;;
  esac
done < "$2"
rm -f -- "$2"
`;

// The claim file names the same placeholders, and the next sandbox removes them.
function ignoreError(): void {}

function unrefStream(stream: unknown): void {
  if (hasUnref(stream)) stream.unref();
}

function hasUnref(stream: unknown): stream is { unref(): void } {
  return typeof stream === 'object' && stream !== null && 'unref' in stream;
}
