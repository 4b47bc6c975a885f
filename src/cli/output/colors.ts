import { styleText } from 'node:util';

type Style = 'bold' | 'cyan' | 'dim' | 'green' | 'red' | 'yellow';
type Paint = (text: string) => string;

let isEnabled = false;

/** Enables colors on a terminal, unless the environment says otherwise. */
export function configureColors(
  isTerminal: boolean,
  env: Readonly<Record<string, string | undefined>>,
): void {
  const has = (name: string): boolean => (env[name] ?? '') !== '';
  isEnabled = !has('NO_COLOR') && (has('FORCE_COLOR') || (isTerminal && env['TERM'] !== 'dumb'));
}

export function hasColors(): boolean {
  return isEnabled;
}

function createPainter(style: Style): Paint {
  return (text) => (isEnabled ? styleText(style, text, { validateStream: false }) : text);
}

export const colors: Readonly<Record<Style, Paint>> = {
  bold: createPainter('bold'),
  cyan: createPainter('cyan'),
  dim: createPainter('dim'),
  green: createPainter('green'),
  red: createPainter('red'),
  yellow: createPainter('yellow'),
};

const WORKING_STATES: ReadonlySet<string> = new Set(['ready', 'connected']);
const UNUSED_STATES: ReadonlySet<string> = new Set(['disabled', 'skipped', 'unused']);

/** Colors the state of a hook, a plugin or a server; yellow is for the states that need attention. */
export function formatState(state: string): string {
  if (WORKING_STATES.has(state)) return colors.green(state);
  return UNUSED_STATES.has(state) ? colors.dim(state) : colors.yellow(state);
}
