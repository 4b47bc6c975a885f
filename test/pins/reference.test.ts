import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PROVIDERS } from '../../src/agent/models/providers.ts';
import { TOOLS } from '../../src/agent/tools/index.ts';
import { ERROR_CODES } from '../../src/base/errors.ts';
import { EXIT } from '../../src/cli/exit-codes.ts';
import { FILE_HOOKS } from '../../src/dialects/cline-files/events.ts';
import { SETTINGS } from '../../src/host/settings.ts';
import { EVENTS } from '../../src/hooks/events.ts';

/** Rows of every table on a page of the reference, by the heading of their first column. */
function readTables(page: string): Map<string, string[][]> {
  const tables = new Map<string, string[][]>();
  for (const block of readFileSync(`docs/reference/${page}`, 'utf8').split('\n\n')) {
    const [head, , ...rows] = block.trim().split('\n').map(cellsOf);
    if (!block.startsWith('| ') || head === undefined) continue;
    const name = tables.has(head[0] ?? '') ? `${head[0]} again` : (head[0] ?? '');
    tables.set(name, rows);
  }
  return tables;
}

function cellsOf(line: string): string[] {
  return line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim().replace(/^`(.*)`$/, '$1'));
}

function firstCells(page: string, table: string): (string | undefined)[] {
  return (readTables(page).get(table) ?? []).map(([first]) => first);
}

describe('the reference documents, both ways,', () => {
  it('every event: when it fires, and what a decision may do', () => {
    expect(firstCells('events.md', 'Event')).toEqual(Object.keys(EVENTS));
    expect(firstCells('events.md', 'Event again')).toEqual(Object.keys(EVENTS));
  });

  it('every name of a Cline hook file', () => {
    expect(firstCells('events.md', 'File')).toEqual(Object.keys(FILE_HOOKS));
  });

  it('every tool of the agent', () => {
    expect(firstCells('tools.md', 'Tool')).toEqual(TOOLS.map(({ name }) => name));
  });

  it('every provider of models', () => {
    const names = firstCells('models.md', 'Provider').map((cell) => cell?.split('`')[0]);
    expect(names.map((name) => name?.replaceAll('`', ''))).toEqual(
      PROVIDERS.map(({ name }) => name),
    );
  });

  it('every setting', () => {
    expect(firstCells('settings.md', 'Setting')).toEqual(Object.keys(SETTINGS));
  });

  it('every error code', () => {
    expect(firstCells('errors.md', 'Code')).toEqual(Object.keys(ERROR_CODES));
  });

  it('every exit code', () => {
    expect(firstCells('exit-codes.md', 'Code')).toEqual(Object.values(EXIT).map(String));
  });

  it('each of them with a description', () => {
    const pages = [
      'events.md',
      'tools.md',
      'models.md',
      'settings.md',
      'errors.md',
      'exit-codes.md',
    ];
    const rows = pages.flatMap((page) => [...readTables(page).values()].flat());
    expect(rows.filter((cells) => cells.length < 2 || cells[1] === '')).toEqual([]);
  });
});
