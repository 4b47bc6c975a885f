import { stripVTControlCharacters } from 'node:util';
import { dropUndefined } from '../../../base/defined.ts';
import { isRecord, parseJson } from '../../../base/json.ts';
import type { ImageBlock } from '../../../sessions/messages.ts';

export type RawCell = Readonly<Record<string, unknown>>;

/** A parsed Jupyter notebook with its raw content. */
export interface Notebook {
  readonly raw: Readonly<Record<string, unknown>>;
  readonly cells: readonly RawCell[];
  readonly language: string;
  /** Cells have ids since format 4.5. */
  readonly hasIds: boolean;
}

/** A cell in the format of Claude Code's Read. */
interface CellView {
  readonly cellType: string;
  readonly source: string;
  readonly execution_count?: number;
  readonly cell_id: string;
  readonly language?: string;
  readonly outputs?: readonly OutputView[];
}

interface OutputView {
  readonly output_type: string;
  readonly text?: string;
  readonly image?: { readonly image_data: string; readonly media_type: string };
}

/** A string says why the text is not a notebook. */
export function parseNotebook(text: string): Notebook | string {
  const parsed = parseJson(text);
  if (!parsed.ok) return `Notebook is not valid JSON: ${parsed.error}.`;
  const raw = parsed.value;
  const cells = isRecord(raw) ? raw['cells'] : null;
  if (!isRecord(raw) || !Array.isArray(cells) || !cells.every((cell) => isRecord(cell))) {
    return 'Notebook is not one of format 4: expected an object with a list of objects "cells".';
  }
  return { raw, cells, language: getLanguage(raw['metadata']), hasIds: hasIds(raw) };
}

function getLanguage(metadata: unknown): string {
  const language = isRecord(metadata) ? metadata['language_info'] : null;
  const name = isRecord(language) ? language['name'] : null;
  return typeof name === 'string' ? name : 'python';
}

function hasIds({ nbformat, nbformat_minor: minor }: Readonly<Record<string, unknown>>): boolean {
  if (typeof nbformat !== 'number') return false;
  return nbformat > 4 || (nbformat === 4 && typeof minor === 'number' && minor >= 5);
}

export function getCellId(cell: RawCell, index: number): string {
  return typeof cell['id'] === 'string' ? cell['id'] : `cell-${index}`;
}

/** Notebooks may store a text as a list of lines. */
export function joinText(value: unknown): string {
  if (Array.isArray(value)) return value.filter((line) => typeof line === 'string').join('');
  return typeof value === 'string' ? value : '';
}

export function toCellView(cell: RawCell, index: number, language: string): CellView {
  const view = {
    cellType: joinText(cell['cell_type']),
    source: joinText(cell['source']),
    cell_id: getCellId(cell, index),
  };
  if (view.cellType !== 'code') return view;
  const count = cell['execution_count'];
  const outputs = toOutputViews(cell['outputs'], index);
  return {
    ...view,
    ...dropUndefined({ execution_count: typeof count === 'number' ? count : undefined }),
    language,
    ...dropUndefined({ outputs: outputs.length === 0 ? undefined : outputs }),
  };
}

const MAX_OUTPUT_CHARACTERS = 10_000;

function toOutputViews(value: unknown, index: number): readonly OutputView[] {
  if (!Array.isArray(value)) return [];
  const outputs = value.filter((output: unknown) => isRecord(output)).map(toOutputView);
  const length = outputs.reduce((sum, { text }) => sum + (text?.length ?? 0), 0);
  if (length <= MAX_OUTPUT_CHARACTERS) return outputs;
  const note = `Outputs are too large to include. Use Bash with: cat <notebook_path> | jq '.cells[${index}].outputs'`;
  return [{ output_type: 'stream', text: note }];
}

function toOutputView(output: Readonly<Record<string, unknown>>): OutputView {
  const kind = joinText(output['output_type']);
  if (kind === 'stream') return { output_type: kind, text: joinText(output['text']) };
  if (kind === 'error') return { output_type: kind, text: formatError(output) };
  const data = isRecord(output['data']) ? output['data'] : {};
  const image = findImage(data);
  const view = { output_type: kind, text: joinText(data['text/plain']) };
  return image === null ? view : { ...view, image };
}

function formatError(output: Readonly<Record<string, unknown>>): string {
  const { ename, evalue, traceback } = output;
  const lines = Array.isArray(traceback)
    ? traceback.filter((line) => typeof line === 'string')
    : [];
  const head = `${joinText(ename)}: ${joinText(evalue)}`;
  return stripVTControlCharacters([head, ...lines].join('\n'));
}

function findImage(data: Readonly<Record<string, unknown>>) {
  const mediaType = ['image/png', 'image/jpeg'].find((type) => data[type] !== undefined);
  if (mediaType === undefined) return null;
  const base64 = joinText(data[mediaType]).replaceAll(/\s/g, '');
  return { image_data: base64, media_type: mediaType };
}

/** The cells in the format that Claude Code shows the model. */
export function formatCells(cells: readonly CellView[]): string {
  return cells.map(formatCell).join('\n');
}

function formatCell({ cellType, source, cell_id: id, language, outputs = [] }: CellView): string {
  const type = cellType === 'code' ? '' : `<cell_type>${cellType}</cell_type>`;
  const isPython = language === undefined || language === 'python';
  const languageTag = isPython ? '' : `<language>${language}</language>`;
  const outputText = outputs
    .flatMap(({ text = '' }) => (text === '' ? [] : [`\n${text}`]))
    .join('\n');
  return `<cell id="${id}">${type}${languageTag}${source}</cell id="${id}">${outputText}`;
}

export function listCellImages(cells: readonly CellView[]): readonly ImageBlock[] {
  return cells.flatMap(({ outputs = [] }) =>
    outputs.flatMap(({ image }) =>
      image === undefined
        ? []
        : [
            {
              type: 'image',
              source: { type: 'base64', media_type: image.media_type, data: image.image_data },
            } as const,
          ],
    ),
  );
}
