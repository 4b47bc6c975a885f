import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { redactText } from '../../src/host/redact-object.ts';
import type { Contest, Row, RowOptions } from '../row.ts';

/** What it costs that everything printed, logged and stored is searched for secrets. */
export const redactionRows: readonly Row[] = [
  {
    name: 'redaction of 1 MB of source text',
    bound: { of: 'ms', atMost: 50, because: 'at least 20 MB/s; bare: one search for a word' },
    open: openRedaction,
  },
];

const MB = 1_000_000;

async function openRedaction({ project, quick }: RowOptions): Promise<Contest> {
  const text = readSources(path.join(project, 'src'));
  // The bare scan looks at every position, as a search for many words must.
  const word = /(?<![A-Za-z0-9])gh[opsur]_[A-Za-z0-9]{36}/g;
  return {
    samples: quick ? 10 : 40,
    batch: 1,
    us: () => redactText(text),
    bare: () => [...text.matchAll(word)].length,
    close: async () => undefined,
  };
}

function readSources(directory: string): string {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const texts = files.toSorted().map((file) => readFileSync(path.join(directory, file), 'latin1'));
  return texts.join('\n').slice(0, MB);
}
