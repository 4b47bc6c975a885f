import { styleText } from 'node:util';

type Style = 'bold' | 'cyan' | 'dim' | 'green' | 'red' | 'yellow';
type Paint = (text: string) => string;

let isOn = false;

/** Decides once whether words are coloured: for a person at a terminal, unless they wish otherwise. */
export function chooseColors(
  isTerminal: boolean,
  env: Readonly<Record<string, string | undefined>>,
): void {
  const has = (name: string): boolean => (env[name] ?? '') !== '';
  isOn = !has('NO_COLOR') && (has('FORCE_COLOR') || (isTerminal && env['TERM'] !== 'dumb'));
}

export function hasColors(): boolean {
  return isOn;
}

function paintWith(style: Style): Paint {
  return (text) => (isOn ? styleText(style, text, { validateStream: false }) : text);
}

export const colors: Readonly<Record<Style, Paint>> = {
  bold: paintWith('bold'),
  cyan: paintWith('cyan'),
  dim: paintWith('dim'),
  green: paintWith('green'),
  red: paintWith('red'),
  yellow: paintWith('yellow'),
};
