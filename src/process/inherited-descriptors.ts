import { openSync, readdirSync, readFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { memoize } from '../base/memoize.ts';

/** How a child's descriptor is filled; `ignore` leaves those from 3 on as they are. */
type Descriptor = number | 'pipe' | 'ignore' | 'ipc';

/**
 * Covers the descriptors that this process got from its parent and would pass on to its children, with
 * one of the null device: a directory among them would lead out of a sandbox. Node.js marks those below
 * 16 and what it opens itself to be closed, but of the others only as many as follow without a gap.
 */
export function blockInheritedDescriptors(stdio: readonly Descriptor[]): Descriptor[] {
  const { inherited, cover } = findInherited();
  const covered = [...stdio];
  for (const descriptor of inherited) {
    while (covered.length <= descriptor) covered.push('ignore');
    if (covered[descriptor] === 'ignore') covered[descriptor] = cover;
  }
  return covered;
}

/** Once, because what this process opens later is closed in its children. */
const findInherited = memoize(() => {
  const inherited = listDescriptors().filter(
    (descriptor) => descriptor > 2 && isPassedOn(descriptor),
  );
  return { inherited, cover: inherited.length === 0 ? 0 : openSync(devNull, 'r') };
});

/** Empty where a system closes them by itself, as macOS does for Node.js, or does not list them. */
function listDescriptors(): readonly number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number);
  } catch {
    return [];
  }
}

const CLOSE_ON_EXEC = 0o2000000;

function isPassedOn(descriptor: number): boolean {
  try {
    const text = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1');
    const [, flags = ''] = /^flags:\s*([0-7]+)$/m.exec(text) ?? [];
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // The one by which the directory was read is closed by now.
    return false;
  }
}
