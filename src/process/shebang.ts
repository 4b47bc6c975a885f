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

  const isEnv = baseName(kernelProgram) === 'env';
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
export function baseName(program: string): string {
  const name = program.slice(Math.max(program.lastIndexOf('/'), program.lastIndexOf('\\')) + 1);
  return name.toLowerCase().replace(/\.exe$/, '');
}

// Kernels before 5.1 cut the line here.
const KERNEL_LINE = 125;

type Command = Pick<Shebang, 'interpreter' | 'args' | 'variables'>;

/** Null when `env` is given an option that only `env` itself can carry out. */
function parseEnv(words: readonly string[]): Command | null {
  const [option] = words;
  if (isSplitOption(option)) return parseEnv(withoutSplitOption(words));
  const start = words.findIndex((word) => !isAssignment(word));
  const interpreter = words[start];
  if (interpreter === undefined || interpreter.startsWith('-')) return null;
  return { interpreter, args: words.slice(start + 1), variables: words.slice(0, start) };
}

function isSplitOption(word: string | undefined): boolean {
  return word !== undefined && /^(-v?S|--split-string(=|$))/.test(word);
}

function withoutSplitOption([option = '', ...rest]: readonly string[]): string[] {
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
