import type { Summary } from './measure.ts';
import { type RowResult, spreadOf } from './row.ts';

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
export function tableOf(results: readonly RowResult[]): string[][] {
  return [TITLES, ...results.map(cellsOf)];
}

function cellsOf(result: RowResult): string[] {
  const { name, us, bare, peer, peerRatio, ratio } = result;
  return [
    name,
    time(us?.median),
    time(us?.p95),
    time(bare?.median),
    peer === null ? '–' : `${time(peer.median)} (${number(peerRatio)})`,
    number(ratio),
    boundText(result),
    us === null ? '–' : `${Math.round(spreadOf(result) * 100)} %`,
    verdictText(result),
  ];
}

function boundText({ bound: { of, atMost, isAim } }: RowResult): string {
  if (of === 'check') return 'flat';
  const limits = {
    ratio: atMost.toFixed(2),
    peer: `${atMost.toFixed(2)} × peer`,
    more: `bare + ${time(atMost)}`,
    ms: time(atMost),
  };
  return `${isAim === true ? 'aim ' : ''}≤ ${limits[of]}`;
}

export function verdictText({ bound, isMet, isNoisy }: RowResult): string {
  const missed = bound.isAim === true ? 'aim missed' : 'MISSED';
  return `${isMet ? 'ok' : missed}${isNoisy ? ', noisy' : ''}`;
}

function time(ms: Summary['median'] | undefined): string {
  if (ms === undefined) return '–';
  if (ms < 0.1) return `${(ms * 1000).toFixed(2)} µs`;
  return `${ms.toFixed(ms < 10 ? 2 : 1)} ms`;
}

function number(value: number | null): string {
  return value === null ? '–' : value.toFixed(2);
}

/** Columns as wide as their widest cell. */
export function plainTable(rows: readonly (readonly string[])[]): string {
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

export function markdownReport({ results, machine, remarks }: Report): string {
  const [titles = [], ...rows] = tableOf(results);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    '# Results of the last `npm run bench`',
    'Medians; a ratio is ours to the bare call of the same run, and in brackets the peer’s. The spread is the worst contender’s interquartile range over its median; above 25 % a row is noisy.',
    machine.map((fact) => `- ${fact}`).join('\n'),
    [line(titles), line(titles.map(() => '---')), ...rows.map(line)].join('\n'),
    boundsSection(results),
    ...remarks,
  ]
    .join('\n\n')
    .concat('\n');
}

function boundsSection(results: readonly RowResult[]): string {
  const lines = results.map(({ name, bound, facts, us }) => {
    const samples = us === null ? '' : `; ${us.samples} samples`;
    return `- ${name}: ${bound.because}${samples}${facts === '' ? '' : `; ${facts}`}`;
  });
  return `Where the bounds come from:\n\n${lines.join('\n')}`;
}
