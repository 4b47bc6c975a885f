import { Console } from 'node:console';
import { Writable } from 'node:stream';

type Line = (text: string) => void;

const listeners: Line[] = [];
let restore: (() => void) | null = null;

/**
 * Has what plugins write with `console` told instead of printed: whoever reads the program's own
 * output must find nothing else in it. Counts for all plugins of this process; the last one told wins.
 */
export function redirectConsole(onLine: Line): () => void {
  listeners.push(onLine);
  restore ??= replaceConsole();
  return () => {
    const place = listeners.indexOf(onLine);
    if (place >= 0) listeners.splice(place, 1);
    if (listeners.length > 0) return;
    restore?.();
    restore = null;
  };
}

function replaceConsole(): () => void {
  const sink = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      listeners.at(-1)?.(String(chunk).replace(/\n$/, ''));
      done();
    },
  });
  const { console: shared } = globalThis;
  const before = { ...shared };
  Object.assign(shared, new Console({ stdout: sink, stderr: sink }));
  return () => void Object.assign(shared, before);
}
