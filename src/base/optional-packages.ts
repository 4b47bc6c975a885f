import { getErrorCode, getErrorMessage, HooklineError } from './errors.ts';

/** The ranges of the packages that `--omit=optional` leaves out; a test compares them with package.json. */
export const OPTIONAL_PACKAGES: Readonly<Record<string, string>> = {
  '@ai-sdk/anthropic': '^3.0.138',
  '@ai-sdk/google': '^3.0.141',
  '@ai-sdk/openai': '^3.0.139',
  '@ai-sdk/openai-compatible': '^2.0.87',
  '@modelcontextprotocol/client': '^2.4.0',
  '@vscode/ripgrep': '^1.18.0',
  ai: '^6.0.326',
  'es-module-lexer': '^3.0.4',
  libsql: '^0.5.29',
  'oxc-transform': '^0.158.0',
};

/** Imports a package; when it is an optional one that is not installed, the error says how to install it. */
export async function importOptional<Module>(
  purpose: string,
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    throw explainMissingPackage(purpose, error) ?? error;
  }
}

const MISSING_CODES = new Set<string | null>(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']);
const QUOTED_PACKAGE = /'((?:@[^/']+\/)?[^/']+)/;

function explainMissingPackage(purpose: string, error: unknown): HooklineError | null {
  if (!MISSING_CODES.has(getErrorCode(error))) return null;
  const name = QUOTED_PACKAGE.exec(getErrorMessage(error))?.[1] ?? '';
  const range = OPTIONAL_PACKAGES[name];
  if (range === undefined) return null;
  return new HooklineError('PACKAGE_MISSING', {
    // In the message, because not everybody who reports an error has room for its hint.
    message: `${purpose} needs the package ${name}, which is not installed: npm install "${name}@${range}"`,
    hint: 'Run that command where Hookline is installed, with -g if it is installed globally.',
  });
}
