import path from 'node:path';
import type { FindProgram } from './program-finder.ts';
import { findBash, findPowershell } from './shell.ts';

interface ScriptFile {
  /** Absolute. */
  readonly path: string;
  /** The first 512 bytes, or all. */
  readonly head: Uint8Array;
  readonly isExecutable: boolean;
}

export interface LaunchMachine {
  readonly platform: NodeJS.Platform;
  readonly findProgram: FindProgram;
  /** The variable PATHEXT, which only Windows has. */
  readonly pathExt?: string | undefined;
  /** The Node.js that runs us, for when none is on the PATH. */
  readonly nodePath: string;
  /** A module that runs the TypeScript file given as its argument. */
  readonly typescriptLoader: string;
}

interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  /** What the user should know: another interpreter than the one asked for was taken. */
  readonly note: string | null;
}

export type LaunchPlan = Launch | { readonly missing: string };

/** Decides how a file is started without a shell: directly, or by which interpreter. */
export function planLaunch(file: ScriptFile, machine: LaunchMachine): LaunchPlan {
  const script = { ...file, extension: getExtension(file.path, machine.platform) };
  const isWindows = machine.platform === 'win32';
  if (isWindows && WINDOWS_PROGRAMS.has(script.extension)) return launchDirectly(script);
  if (isWindows && script.extension === '.ps1') return planPowershell(script, machine);
  const shebang = parseShebang(Buffer.from(file.head).toString('utf8'));
  if (shebang !== null) return planByShebang(script, shebang, machine);
  if (isBinary(file.head)) return planBinary(script, machine);
  const planner = PLANNERS[script.extension] ?? planShell;
  return planner(script, machine);
}

type Script = ScriptFile & { readonly extension: string };
type Planner = (script: Script, machine: LaunchMachine) => LaunchPlan;

const WINDOWS_PROGRAMS: ReadonlySet<string> = new Set(['.exe', '.com', '.bat', '.cmd']);

const PLANNERS: Readonly<Record<string, Planner>> = {
  '.zsh': planZsh,
  '.js': planNode,
  '.mjs': planNode,
  '.cjs': planNode,
  '.ts': planTypeScript,
  '.mts': planTypeScript,
  '.cts': planTypeScript,
  '.py': planPython,
  '.ps1': planPowershell,
};

function getExtension(file: string, platform: NodeJS.Platform): string {
  const rules = platform === 'win32' ? path.win32 : path.posix;
  return rules.extname(file).toLowerCase();
}

function launchDirectly(script: Script): Launch {
  return { file: script.path, args: [], note: null };
}

function planByShebang(script: Script, shebang: Shebang, machine: LaunchMachine): LaunchPlan {
  const isTypeScript = PLANNERS[script.extension] === planTypeScript;
  const replacement = isTypeScript ? planTypeScriptShebang(script, shebang, machine) : null;
  if (replacement !== null) return replacement;
  if (script.isExecutable && canKernelStart(shebang, machine)) return launchDirectly(script);

  const interpreter = findInterpreter(shebang.interpreter, machine);
  if (interpreter === null) return { missing: describeMissingInterpreter(script, shebang) };
  const command = [interpreter.file, ...interpreter.args, ...shebang.args, script.path];
  return withVariables(command, shebang.variables, { note: interpreter.note, machine });
}

function canKernelStart(shebang: Shebang, machine: LaunchMachine): boolean {
  return (
    machine.platform !== 'win32' &&
    shebang.isKernelReady &&
    path.posix.isAbsolute(shebang.kernelProgram) &&
    machine.findProgram(shebang.kernelProgram) !== null &&
    machine.findProgram(shebang.interpreter) !== null
  );
}

function findInterpreter(written: string, machine: LaunchMachine): Launch | null {
  const name = getProgramName(written);
  if (machine.platform === 'win32') return findOnWindows(name, machine);
  const exact = machine.findProgram(written);
  if (exact !== null) return { file: exact, args: [], note: null };
  const file = machine.findProgram(name) ?? (isNode(name) ? machine.nodePath : null);
  if (file === null) return null;
  return { file, args: [], note: `${written} was not found; ${file} is used instead.` };
}

// Paths such as /bin/bash mean nothing there; only the name does.
function findOnWindows(name: string, machine: LaunchMachine): Launch | null {
  if (name === 'python' || name === 'python3') return findPython(machine);
  const found = name === 'bash' ? findBash(machine) : machine.findProgram(name);
  const file = found ?? (isNode(name) ? machine.nodePath : null);
  return file === null ? null : { file, args: [], note: null };
}

function isNode(name: string): boolean {
  return name === 'node' || name === 'nodejs';
}

function describeMissingInterpreter(script: Script, { interpreter }: Shebang): string {
  const places = interpreter.includes('/') ? 'neither there nor on the PATH' : 'not on the PATH';
  return `The first line of ${script.path} names ${interpreter}, which is ${places}.`;
}

function withVariables(
  [file = '', ...args]: readonly string[],
  variables: readonly string[],
  { note, machine }: { note: string | null; machine: LaunchMachine },
): LaunchPlan {
  if (variables.length === 0) return { file, args, note };
  const env = machine.findProgram('env');
  if (env === null) {
    return { missing: `Setting ${variables.join(' ')} needs env, which is not on the PATH.` };
  }
  return { file: env, args: [...variables, file, ...args], note };
}

const TYPESCRIPT_RUNNERS: ReadonlySet<string> = new Set(['bun', 'tsx', 'ts-node', 'ts-node-esm']);
const PACKAGE_RUNNERS: ReadonlySet<string> = new Set(['npx', 'bunx']);

/** Null when the file can be run as it says. */
function planTypeScriptShebang(
  script: Script,
  { interpreter, args }: Shebang,
  machine: LaunchMachine,
): LaunchPlan | null {
  const name = getProgramName(interpreter);
  if (isNode(name)) return args.some(isLoaderOption) ? null : launchWithOwnLoader(script, machine);
  // A package runner would download what is not installed.
  const runner = PACKAGE_RUNNERS.has(name) ? findPackageName(args) : name;
  if (!TYPESCRIPT_RUNNERS.has(runner)) return null;
  const isFound = (machine.findProgram(interpreter) ?? machine.findProgram(name)) !== null;
  if (isFound && (runner === name || machine.findProgram(runner) !== null)) return null;
  const note = `${isFound ? runner : name} was not found; the built-in TypeScript loader is used instead.`;
  return { ...launchWithOwnLoader(script, machine), note };
}

function isLoaderOption(option: string): boolean {
  return /^(--import|--loader|--experimental-loader|--require|-r)(=|$)/.test(option);
}

function findPackageName(args: readonly string[]): string {
  const name = args.find((word) => !word.startsWith('-')) ?? '';
  return name.replace(/@.*$/, '');
}

function launchWithOwnLoader(script: Script, machine: LaunchMachine): Launch {
  return { file: machine.nodePath, args: [machine.typescriptLoader, script.path], note: null };
}

const BINARY_MAGICS: readonly string[] = [
  '7f454c46',
  'feedface',
  'feedfacf',
  'cefaedfe',
  'cffaedfe',
  'cafebabe',
];

function isBinary(head: Uint8Array): boolean {
  const magic = Buffer.from(head.subarray(0, 4)).toString('hex');
  return BINARY_MAGICS.includes(magic) || magic.startsWith('4d5a');
}

function planBinary(script: Script, machine: LaunchMachine): LaunchPlan {
  if (script.isExecutable || machine.platform === 'win32') return launchDirectly(script);
  return { missing: `${script.path} is a program, but its executable bit is not set.` };
}

function planShell(script: Script, machine: LaunchMachine): LaunchPlan {
  return planFirst(script, ['bash', 'sh'], machine);
}

function planZsh(script: Script, machine: LaunchMachine): LaunchPlan {
  return planFirst(script, ['zsh', 'bash', 'sh'], machine);
}

function planFirst(
  script: Script,
  names: readonly [string, ...string[]],
  machine: LaunchMachine,
): LaunchPlan {
  const [preferredName] = names;
  for (const name of names) {
    const file = name === 'bash' ? findBash(machine) : machine.findProgram(name);
    if (file === null) continue;
    const note =
      name === preferredName ? null : `${preferredName} was not found; ${file} is used instead.`;
    return { file, args: [script.path], note };
  }
  return { missing: describeMissingInterpreters(script, names) };
}

function planNode(script: Script, machine: LaunchMachine): LaunchPlan {
  if (hasOtherCase(script)) return launchWithOwnLoader(script, machine);
  const file = machine.findProgram('node') ?? machine.nodePath;
  return { file, args: [script.path], note: null };
}

function planTypeScript(script: Script, machine: LaunchMachine): LaunchPlan {
  const bun = machine.findProgram('bun');
  if (bun === null || hasOtherCase(script)) return launchWithOwnLoader(script, machine);
  return { file: bun, args: ['run', script.path], note: null };
}

/** Node.js and bun know what `.mjs` and `.ts` are, but not `.MJS`. */
function hasOtherCase({ path: file, extension }: Script): boolean {
  return !file.endsWith(extension);
}

function planPython(script: Script, machine: LaunchMachine): LaunchPlan {
  const python = findPython(machine);
  if (python !== null) return { ...python, args: [...python.args, script.path] };
  const names = machine.platform === 'win32' ? ['py', 'python'] : ['python3', 'python'];
  return { missing: describeMissingInterpreters(script, names) };
}

function findPython({ platform, findProgram }: LaunchMachine): Launch | null {
  const launcher = platform === 'win32' ? findProgram('py') : null;
  if (launcher !== null) return { file: launcher, args: ['-3'], note: null };
  const file = (platform === 'win32' ? null : findProgram('python3')) ?? findProgram('python');
  return file === null ? null : { file, args: [], note: null };
}

function planPowershell(script: Script, machine: LaunchMachine): LaunchPlan {
  const file = findPowershell(machine);
  const isWindows = machine.platform === 'win32';
  if (file === null) {
    return {
      missing: describeMissingInterpreters(script, isWindows ? ['pwsh', 'powershell'] : ['pwsh']),
    };
  }
  const policy = isWindows ? ['-NoProfile', '-NonInteractive', '-ExecutionPolicy', 'Bypass'] : [];
  return { file, args: [...policy, '-File', script.path], note: null };
}

function describeMissingInterpreters(script: Script, names: readonly string[]): string {
  const kind = script.extension === '' ? 'has no #! line' : `ends in ${script.extension}`;
  return `${script.path} ${kind} and needs ${names.join(' or ')}, which is not on the PATH.`;
}

export interface Shebang {
  /** As written: a path, or the bare name that `env` would look up. */
  readonly interpreter: string;
  readonly args: readonly string[];
  /** `NAME=value` words that `env` would set. */
  readonly variables: readonly string[];
  /** What the kernel itself would start: the interpreter, or `env`. */
  readonly kernelProgram: string;
  /** Whether the kernel would read the line as it is read here. */
  readonly isKernelReady: boolean;
}

/** Reads a `#!` line more generously than the kernel: a byte-order mark, CRLF, several arguments. */
export function parseShebang(head: string): Shebang | null {
  const line = /^\uFEFF?#!([^\n]*)/.exec(head)?.[1];
  const words = splitWords(line ?? '');
  const [kernelProgram, ...rest] = words;
  if (line === undefined || kernelProgram === undefined) return null;

  const isEnv = getProgramName(kernelProgram) === 'env';
  const command = (isEnv ? parseEnv(rest) : null) ?? {
    interpreter: kernelProgram,
    args: rest,
    variables: [],
  };
  const isOneArgument = rest.length <= 1 || (isEnv && isSplitOption(rest[0]));
  const isKernelReady =
    head.startsWith('#!') && !line.includes('\r') && line.length <= KERNEL_LINE && isOneArgument;
  return { ...command, kernelProgram, isKernelReady };
}

/** The last part of a path of either system, lower-cased and without `.exe`. */
export function getProgramName(program: string): string {
  const name = program.slice(Math.max(program.lastIndexOf('/'), program.lastIndexOf('\\')) + 1);
  return name.toLowerCase().replace(/\.exe$/, '');
}

// Kernels before 5.1 cut the line here.
const KERNEL_LINE = 125;

type Command = Pick<Shebang, 'interpreter' | 'args' | 'variables'>;

/** Null when `env` is given an option that only `env` itself can carry out. */
function parseEnv(words: readonly string[]): Command | null {
  const [option] = words;
  if (isSplitOption(option)) return parseEnv(removeSplitOption(words));
  const start = words.findIndex((word) => !isAssignment(word));
  const interpreter = words[start];
  if (interpreter === undefined || interpreter.startsWith('-')) return null;
  return { interpreter, args: words.slice(start + 1), variables: words.slice(0, start) };
}

function isSplitOption(word: string | undefined): boolean {
  return word !== undefined && /^(-v?S|--split-string(=|$))/.test(word);
}

function removeSplitOption([option = '', ...rest]: readonly string[]): string[] {
  const attached = option.replace(/^(-v?S|--split-string=?)/, '');
  return attached === '' ? rest : [attached, ...rest];
}

function isAssignment(word: string): boolean {
  return /^[A-Za-z_]\w*=/.test(word);
}

function splitWords(line: string): string[] {
  const words = line.match(/(?:"[^"]*"|'[^']*'|[^\s"']|["'])+/g) ?? [];
  return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
}

/**
 * Whether a script opens `/dev/stdin` by its path, which fails for Node's pipes, because they are
 * sockets.
 */
export function hasStdinPath(script: string): boolean {
  return process.platform === 'linux' && script.includes('/dev/stdin');
}
