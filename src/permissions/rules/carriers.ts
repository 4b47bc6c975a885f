import path from 'node:path';
import { canOpenAnything, isInterpreter, isOptionDriven } from './foreign-code.ts';
import { UNKNOWN } from './shell-words.ts';
import type { GuardMatch } from './path-pattern.ts';

/** What a command runs beside itself. */
export interface Carried {
  /** Shell code among its arguments. */
  readonly scripts: readonly string[];
  /** Files with shell code that it runs. */
  readonly scriptFiles: readonly string[];
  /**
   * Whether it runs the text of its standard input: as shell code, as code of another language, or only
   * when something is piped into it.
   */
  readonly stdin: 'shell' | 'code' | 'piped code' | null;
  /** The interpreter whose code its standard input is. */
  readonly language?: string;
  /** Whether its arguments, from some position on, are a command that it runs. */
  readonly runsArguments: GuardMatch;
  /** Whether it may run commands that its words do not name. */
  readonly mayRunAnything: boolean;
}

const NOTHING: Carried = {
  scripts: [],
  scriptFiles: [],
  stdin: null,
  runsArguments: 'no',
  mayRunAnything: false,
};

/** The name of a program without its directory and without `.exe`. */
export function getProgramName(word: string): string {
  return path.basename(word).replace(/\.exe$/i, '');
}

/** Settings of apt can name programs. */
const APT_OPTIONS = /^(?:-o.*|--op.*|-c.*|--conf.*)$/;

/** They start their parts by `-wrapper`, or find them where these options say. */
const COMPILER_OPTIONS =
  /^(?:-wrapper|-B.*|-specs.*|--specs.*|-fplugin.*|-fuse-ld.*|-iplugindir.*)$/;

export function findCarried(words: readonly string[]): Carried {
  const [name = '', ...args] = words;
  const program = getProgramName(name);
  if (isShell(program)) return findShellScripts(args);
  const builtin = Object.hasOwn(SCRIPT_BUILTINS, program) ? SCRIPT_BUILTINS[program] : undefined;
  if (builtin !== undefined) return builtin(args);
  if (program === 'git') return findGitScripts(args);
  if (isInterpreter(program)) return findInterpreted(program, args);
  if (COMMAND_CARRIERS.has(program)) return findCarriedCommand(program, args);
  if (PACKAGE_MANAGERS.test(program) && args.some((arg) => /^(?:exec|x|dlx)$/.test(arg))) {
    const { mayRunAnything } = findRunningOptions(program, args);
    return { ...findCarriedCommand(program, args), mayRunAnything };
  }
  if (INERT.has(program)) return findRunningOptions(program, args);
  return { ...NOTHING, runsArguments: 'maybe' };
}

/** Options with which a program that runs none of its arguments runs the value of the option after all. */
const RUNNING_OPTIONS: Readonly<Record<string, RegExp>> = {
  apt: APT_OPTIONS,
  'apt-get': APT_OPTIONS,
  aptitude: APT_OPTIONS,
  brew: /^(?:sh|ruby|irb|edit)$/,
  cargo: /^(?:--config.*|miri|nextest)$/,
  cc: COMPILER_OPTIONS,
  'c++': COMPILER_OPTIONS,
  clang: COMPILER_OPTIONS,
  'clang++': COMPILER_OPTIONS,
  gcc: COMPILER_OPTIONS,
  'g++': COMPILER_OPTIONS,
  dpkg: /^--(?:pre|post)-|^--status-l/,
  go: /^-?-(?:exec|toolexec|vettool)\b/,
  install: /^--str/,
  ip: /^exec$/,
  npm: /^(?:explore|--script-s.*|--node-o.*|--shell.*|--editor.*|--git=.*)$/,
  pnpm: /^--(?:script-s|shell)/,
  rg: /^--(?:pre|hostname-bin)(?:=|$)/,
  rustc: /^(?:-C.*linker.*|linker=.*|-Z.*)$/,
  sort: /^--com/,
  split: /^--f/,
  wget: /^(?:--use-a.*|-e|--exec.*|--config.*)$/,
  yarn: /^--(?:script-s|shell)/,
};

function findRunningOptions(program: string, args: readonly string[]): Carried {
  const isRunning = Object.hasOwn(RUNNING_OPTIONS, program) ? RUNNING_OPTIONS[program] : undefined;
  if (isRunning === undefined) return NOTHING;
  if (args.some((arg) => isRunning.test(arg))) {
    return { ...NOTHING, scripts: listScripts(args), runsArguments: 'maybe', mayRunAnything: true };
  }
  // What is compiled may include any file.
  const readsCode = isRunning === COMPILER_OPTIONS && args.includes('-');
  return readsCode ? { ...NOTHING, stdin: 'code', language: 'c' } : NOTHING;
}

/** Texts that may be shell code: with a blank, or with a sign that the shell would act upon. */
function listScripts(args: readonly string[]): readonly string[] {
  const scripts = args.flatMap((arg) => [
    arg.replace(/^-[a-zA-Z]*[SceOx]|^--?[\w-]+=/, ''),
    // `-o ProxyCommand=x`, `--checkpoint-action=exec=x`, `EXEC:x`
    arg.replace(/^(?:-[a-z])?(?:--?[\w-]+=)?[\w.-]+[=:]!?/, ''),
  ]);
  return [...new Set(scripts)].filter((script) => /[\s$`\\;|&]/.test(script));
}

const PACKAGE_MANAGERS = /^(?:npm|pnpm|yarn|bun|uv|pipenv|poetry|conda|bundle)$/;

const SHELL =
  /^-?(?:(?:ba|z|da|k|a|mk|pdk|fi|tc|c|rba|rz|ya|o|po|lok|ok)?sh|elvish|nu|xonsh|oil|osh)(?:-?[\d.]+)?$/;

export function isShell(program: string): boolean {
  return SHELL.test(program);
}

const SHELL_OPTIONS_WITH_VALUE = /^(?:[-+]\w*[oO]|--(?:rcfile|init-file))$/;
const STDIN_FILE = /^(?:-|\/dev\/(?:stdin|fd\/\d+)|\/proc\/\S*\/fd\/\d+)$/;

/** `bash -ce 'script'`, `bash file`, `bash` alone, which reads its input. */
function findShellScripts(args: readonly string[]): Carried {
  const isOption = (arg: string, index: number): boolean =>
    /^[-+]./.test(arg) || SHELL_OPTIONS_WITH_VALUE.test(args[index - 1] ?? '');
  const hasScript = args.some((arg) => /^[-+]\w*c\w*$|^--command\b/.test(arg));
  const operands = args.filter((arg, index) => !isOption(arg, index) && arg !== '--');
  const startFiles = args.flatMap((arg, index) => {
    const [, joined] = /^--(?:rcfile|init-file)=(.*)$/s.exec(arg) ?? [];
    return joined ?? (/^--(?:rcfile|init-file)$/.test(args[index - 1] ?? '') ? arg : []);
  });
  const mayRunAnything = args.some((arg) => arg.startsWith(UNKNOWN));
  if (hasScript) return { ...NOTHING, scripts: operands, scriptFiles: startFiles, mayRunAnything };
  const [file] = operands;
  const isStdin = file === undefined || STDIN_FILE.test(file) || args.includes('-s');
  const isQuery = args.length > 0 && args.every((arg) => /^--(?:version|help)$/.test(arg));
  if (isQuery) return NOTHING;
  return {
    ...NOTHING,
    scriptFiles: isStdin ? startFiles : [...startFiles, file],
    stdin: isStdin ? 'shell' : null,
    mayRunAnything,
  };
}

/** Commands of the shell itself that run a text or a file. */
const SCRIPT_BUILTINS: Readonly<Record<string, (args: readonly string[]) => Carried>> = {
  eval: (args) => ({ ...NOTHING, scripts: [args.filter((arg) => arg !== '--').join(' ')] }),
  trap: (args) => ({ ...NOTHING, scripts: args.slice(0, 2) }),
  alias: (args) => ({ ...NOTHING, scripts: args.map((arg) => arg.replace(/^[^=]*=/, '')) }),
  source: findSourced,
  '.': findSourced,
  compgen: (args) => ({ ...NOTHING, scripts: args }),
  complete: (args) => ({ ...NOTHING, scripts: args }),
  bind: (args) => ({ ...NOTHING, scripts: args.map((arg) => arg.replace(/^[^:]*:/, '')) }),
  mapfile: (args) => ({ ...NOTHING, scripts: args }),
  readarray: (args) => ({ ...NOTHING, scripts: args }),
  fc: () => ({ ...NOTHING, mayRunAnything: true }),
  enable: (args) => ({ ...NOTHING, mayRunAnything: args.includes('-f') }),
};

function findSourced(args: readonly string[]): Carried {
  const file = args.find((arg) => arg !== '--');
  if (file === undefined) return NOTHING;
  if (STDIN_FILE.test(file)) return { ...NOTHING, stdin: 'shell' };
  return { ...NOTHING, scriptFiles: [file] };
}

/** Options of git whose value is text for people or for git itself. */
const GIT_TEXT_OPTIONS =
  /^(?:-m|-[a-zA-Z]*m|--message|-F|--file|--grep|--author|--date|-S|-G|--format|--pretty|--trailer|-b|-t|--title|--since|--until|--after|--before)$/;

/** `git -c alias.x='!git push' x`, `git rebase -x 'git push'`, `git submodule foreach 'git push'` */
function findGitScripts(args: readonly string[]): Carried {
  const others = args.filter(
    (arg, index) =>
      !GIT_TEXT_OPTIONS.test(args[index - 1] ?? '') &&
      !/^--(?:message|grep|author|format|pretty|trailer|date)=/.test(arg),
  );
  const isCarrier =
    /^(?:foreach|for-each-repo|run|filter-branch|difftool|mergetool|daemon|upload-pack)$/;
  const scripts = others.map((arg) => arg.replace(/^[\w.-]*=!?/, '').replace(/^ext::/, ''));
  const runs = others.filter(
    (arg, index) => GIT_RUNS.test(arg) || GIT_RUNS.test(others[index - 1] ?? ''),
  );
  return {
    ...NOTHING,
    scripts: [...scripts.filter((script) => /\s/.test(script)), ...listScripts(runs)],
    runsArguments: others.some((arg) => isCarrier.test(arg)) ? 'yes' : 'no',
    // A misspelt command is then another one.
    mayRunAnything: others.some((arg) => /^help\.autocorrect=/i.test(arg)),
  };
}

/** Options of git whose value is a command. */
const GIT_RUNS =
  /^(?:-[xO].*|--(?:exec|extcmd|open-files|upload-pack|receive-pack|cmd|[\w-]*-filter).*)$/;

function findInterpreted(program: string, args: readonly string[]): Carried {
  const isQuery = args.length > 0 && args.every((arg) => /^-(?:[vVh]|-version|-help)$/.test(arg));
  return {
    ...NOTHING,
    stdin: isQuery ? null : findCodeInput(program, args),
    language: program,
    runsArguments: isOptionDriven(program) && !/^(?:gdb|lldb)$/.test(program) ? 'no' : 'maybe',
    mayRunAnything: canOpenAnything(program, args),
  };
}

/** `ed file` reads its commands from its input. */
function findCodeInput(program: string, args: readonly string[]): Carried['stdin'] {
  if (/^(?:ed|red)$/.test(program)) return 'code';
  const isPiped = /^(?:ex|vi|vim|nvim|gdb|lldb|sqlite3?|psql|mysql|dc|bc|ftp|sftp|telnet)$/;
  if (isPiped.test(program)) return 'piped code';
  if (isOptionDriven(program) || /awk$|^g?sed$/.test(program)) return null;
  return readsCodeInput(args) ? 'code' : null;
}

/** Without code and without a file to run; a word behind an option may be the value of the option. */
function readsCodeInput(args: readonly string[]): boolean {
  if (args.some((arg) => /^-\w*[cepEm]|^--(?:eval|print|test|check)/.test(arg))) return false;
  const file = args.find(
    (arg, index) =>
      STDIN_FILE.test(arg) || (!arg.startsWith('-') && !/^-\w+$/.test(args[index - 1] ?? '')),
  );
  return file === undefined || STDIN_FILE.test(file);
}

/** `env -S 'git push'`, `su -c 'git push'`, `xargs`, which adds words that are not known. */
function findCarriedCommand(program: string, args: readonly string[]): Carried {
  if (program === 'crontab' && args.some((arg) => /^-[lr]$/.test(arg))) return NOTHING;
  const isNamed = args.some((arg) => !arg.startsWith('-'));
  return {
    ...NOTHING,
    scripts: listScripts(args),
    stdin: (!isNamed && STDIN_CARRIERS.test(program)) || SCHEDULERS.test(program) ? 'shell' : null,
    runsArguments: 'yes',
    mayRunAnything:
      (ADDS_WORDS.test(program) && isShellOrNothing(program, args)) ||
      (program === 'env' && splitsText(args)),
  };
}

/** `env -S` has escapes and variables of its own. */
function splitsText(args: readonly string[]): boolean {
  return args.some(
    (arg, index) =>
      /[\\$]/.test(arg) &&
      (/^-\w*S|^--sp/.test(arg) || /^(?:-\w*S|--sp\w*)$/.test(args[index - 1] ?? '')),
  );
}

const SCHEDULERS = /^(?:at|batch|crontab)$/;
const STDIN_CARRIERS = /^(?:su|sudo|doas|newgrp|unshare|nsenter|chroot|parallel|script)$/;
const ADDS_WORDS = /^(?:xargs|gxargs|parallel|env_parallel|rush)$/;

/** `xargs` runs `echo`; with a shell or an option alone, the command itself comes from the input. */
function isShellOrNothing(program: string, args: readonly string[]): boolean {
  const operands = args.filter((arg) => !arg.startsWith('-'));
  if (program !== 'xargs' && program !== 'gxargs') return true;
  const last = getProgramName(operands.at(-1) ?? '');
  return operands.some((arg) => isShell(getProgramName(arg))) || TRIVIAL_CARRIERS.has(last);
}

const TRIVIAL_CARRIERS: ReadonlySet<string> = new Set([
  'env',
  'sudo',
  'nice',
  'nohup',
  'command',
  'exec',
  'time',
  'busybox',
]);

/** Programs that run a command which is among their arguments. */
const COMMAND_CARRIERS: ReadonlySet<string> = new Set(
  `abduco at batch bsdtar builtin bundle bunx bwrap busybox capsh catchsegv cgexec choom chpst chroot chronic chrt command
  concurrently conda coproc cpulimit crontab dbus-run-session dbus-launch direnv doas docker dtach dumb-init eatmydata
  emacsclient entr env env_parallel envdir eval exec faketime fakechroot fakeroot fd fdfind find firejail flatpak flock fswatch gosu
  gtimeout gxargs hyperfine i386 ifne ionice kubectl ld-linux-x86-64.so.2 ld-linux.so.2 ld.so linux32 linux64
  logger-run ltrace mise mosh multitime nerdctl newgrp nice nocorrect noglob nohup nodemon npx nsenter numactl
  osqueryi parallel pee perf pipenv pipx pkexec pnpx podman poetry prlimit proot proxychains proxychains4 qemu-x86_64
  retry rlwrap rsh rsync rr run-parts run0 runcon runuser rush rust-gdb schroot scp screen script scriptreplay
  setarch setfacl-run setlock setpriv setsid setuidgid sg sh-run softlimit socat ssh sshpass start-stop-daemon
  stdbuf strace su su-exec sudo systemd-inhibit systemd-run tar gtar taskset tcpdump time timeout tini tmux torify torsocks
  toybox tsp tsocks unbuffer uname26 unshare uvx valgrind watch watchexec wine x86_64 xargs xdotool xterm xvfb-run
  zellij zip ncat nc netcat`.split(/\s+/),
);

export function isInert(program: string): boolean {
  return INERT.has(program);
}

/** Programs that run none of their arguments. */
const INERT: ReadonlySet<string> = new Set(
  `: [ [[ apk apt apt-get aptitude arch b2sum base32 base64 basename break brew cal cargo cat cd chgrp chmod
  chown cksum clear cmp code column comm continue cp curl cut date dd declare df diff dig dir dirname dirs dnf
  dpkg du echo egrep exit expand export expr factor false fgrep file fmt fold free g++ gcc getconf getent
  getopts go grep groups gunzip gzip hash head help hexdump host hostname iconv id ifconfig install ip jobs join
  jq kill killall last let link ln local locale logname logout ls lsblk lsof md5 md5sum mkdir mkfifo mktemp mv
  nl npm nproc nslookup numfmt od pacman paste patch pgrep ping pip pip3 pkill pnpm popd pr printenv printf ps
  pushd pwd read readlink readonly realpath return rev rg rm rmdir rustc seq set sha1sum sha256sum sha512sum
  shasum shift shopt shuf sleep sort split stat strings stty sum sync tac tail tee test touch tput tr tree true
  truncate tsc tsort tty type typeset umask unalias uname unexpand uniq unlink unset unzip uptime users vdir
  vmstat wait wc wget whatis whereis which who whoami xxd xz yarn yes zcat zstd`.split(/\s+/),
);
