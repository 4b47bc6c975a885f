import { spawn } from 'node:child_process';
import { Placeholders } from '../../../src/process/sandbox/placeholders.ts';

/** A process that a test kills: it acquires what its input says, starts a program and waits. */
process.stdin.once('data', (line: Buffer) => {
  const { claims, placeholders } = JSON.parse(line.toString());
  const owner = new Placeholders(claims);
  owner.acquire(placeholders);
  const member = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  owner.trackGroup(member.pid ?? 0);
  process.stdout.write(`${member.pid}\n`);
});
