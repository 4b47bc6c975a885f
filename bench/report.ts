import type { Summary } from './measure.ts';
import { type RowResult, computeSpread } from './row.ts';

const TITLES = [
  'scenario',
  'us',
  'p95',
  'bare call',
  'peer',
  'ratio',
  'bound',
  'spread',
  'verdict',
];

/** The table as cells, the titles first. */
export function buildTable(results: readonly RowResult[]): string[][] {
  return [TITLES, ...results.map(buildCells)];
}

function buildCells(result: RowResult): string[] {
  const { name, us, bare, peer, peerRatio, ratio } = result;
  return [
    name,
    formatTime(us?.median),
    formatTime(us?.p95),
    formatTime(bare?.median),
    peer === null ? '–' : `${formatTime(peer.median)} (${formatNumber(peerRatio)})`,
    formatNumber(ratio),
    formatBound(result),
    us === null ? '–' : `${Math.round(computeSpread(result) * 100)} %`,
    formatVerdict(result),
  ];
}

function formatBound({ bound: { of, atMost, isAim } }: RowResult): string {
  if (of === 'check') return 'flat';
  const limits = {
    ratio: atMost.toFixed(2),
    peer: `${atMost.toFixed(2)} × peer`,
    more: `bare + ${formatTime(atMost)}`,
    ms: formatTime(atMost),
  };
  return `${isAim === true ? 'aim ' : ''}≤ ${limits[of]}`;
}

export function formatVerdict({ bound, isMet, isNoisy }: RowResult): string {
  const missed = bound.isAim === true ? 'aim missed' : 'MISSED';
  return `${isMet ? 'ok' : missed}${isNoisy ? ', noisy' : ''}`;
}

function formatTime(ms: Summary['median'] | undefined): string {
  if (ms === undefined) return '–';
  if (ms < 0.1) return `${(ms * 1000).toFixed(2)} µs`;
  return `${ms.toFixed(ms < 10 ? 2 : 1)} ms`;
}

function formatNumber(value: number | null): string {
  return value === null ? '–' : value.toFixed(2);
}

/** Columns as wide as their widest cell. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => (row[at] ?? '').length)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  return rows.map(line).join('\n');
}

export interface Report {
  readonly results: readonly RowResult[];
  readonly machine: readonly string[];
  readonly remarks: readonly string[];
}

export function formatMarkdownReport({ results, machine, remarks }: Report): string {
  const [titles = [], ...rows] = buildTable(results);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    '# Results of the last `npm run bench`',
    'Medians; a ratio is ours to the bare call of the same run, and in brackets the peer’s. The spread is the worst contender’s interquartile range over its median; above 25 % a row is noisy.',
    machine.map((fact) => `- ${fact}`).join('\n'),
    [line(titles), line(titles.map(() => '---')), ...rows.map(line)].join('\n'),
    formatBounds(results),
    ...remarks,
  ]
    .join('\n\n')
    .concat('\n');
}

function formatBounds(results: readonly RowResult[]): string {
  const lines = results.map(({ name, bound, facts, us }) => {
    const samples = us === null ? '' : `; ${us.samples} samples`;
    return `- ${name}: ${bound.because}${samples}${facts === '' ? '' : `; ${facts}`}`;
  });
  return `Where the bounds come from:\n\n${lines.join('\n')}`;
}
