import { spawn } from 'node:child_process';

export interface BareCall {
  readonly file: string;
  readonly args?: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: Buffer | string;
}

/** What somebody who needs nothing of an engine would write: start, feed, read, wait for the end. */
export function spawnBare({ file, args = [], cwd, env, stdin }: BareCall): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env });
    const chunks: Buffer[] = [];
    child.on('error', reject);
    // A program need not read its input.
    child.stdin.on('error', () => undefined);
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.resume();
    child.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')));
    child.stdin.end(stdin);
  });
}
