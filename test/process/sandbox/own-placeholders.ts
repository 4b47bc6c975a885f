import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { Placeholders } from '../../../src/process/sandbox/placeholders.ts';
import type { Placeholder } from '../../../src/process/sandbox/plan-mounts.ts';

interface Order {
  readonly claims: string;
  readonly placeholders: readonly Placeholder[];
  /** Set for a process that only removes what others left, and ends. */
  readonly recovers?: boolean;
  /** How often they are acquired and released; absent for a process that a test kills. */
  readonly rounds?: number;
}

process.stdin.once('data', (line: Buffer) => {
  const order: Order = JSON.parse(line.toString());
  if (order.recovers === true) new Placeholders(order.claims).recover();
  else if (order.rounds === undefined) keep(order);
  else process.exitCode = race(order, order.rounds);
  if (order.recovers === true || order.rounds !== undefined) process.exit();
});

/** Acquires them, starts a program and waits. */
function keep({ claims, placeholders }: Order): void {
  const owner = new Placeholders(claims);
  owner.acquire(placeholders);
  const member = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  owner.trackGroup(member.pid ?? 0);
  process.stdout.write(`${member.pid}\n`);
}

/** Counts how often one of them was missing while it was acquired. */
function race({ claims, placeholders }: Order, rounds: number): number {
  const owner = new Placeholders(claims);
  let missing = 0;
  for (let round = 0; round < rounds; round += 1) {
    const release = owner.acquire(placeholders);
    for (let look = 0; look < 50; look += 1) {
      if (!placeholders.every((each) => existsSync(each.path))) missing += 1;
    }
    release();
  }
  return Math.min(missing, 100);
}
