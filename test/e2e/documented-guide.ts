import { readFileSync } from 'node:fs';
import path from 'node:path';
import { BugError } from '../../src/base/errors.ts';

interface Sample {
  readonly heading: string;
  /** Its place among the samples below the same heading, from 0. */
  readonly index: number;
  readonly text: string;
}

/** A published guide to hooks, whose samples tests paste as they are. */
export class DocumentedGuide {
  readonly #samples: readonly Sample[];
  readonly #taken = new Set<Sample>();

  constructor(name: string) {
    const file = path.join(import.meta.dirname, 'documented-guides', `${name}.txt`);
    this.#samples = listSamples(readFileSync(file, 'utf8'));
  }

  /** Takes a sample, verbatim, by its heading and its place below it. */
  take(heading: string, index = 0): string {
    const sample = this.#samples.find((each) => each.heading === heading && each.index === index);
    if (sample === undefined) throw new BugError(`no sample ${index} below "${heading}"`);
    this.#taken.add(sample);
    return sample.text;
  }

  /** Lists the samples that no test takes. */
  listUntaken(): readonly string[] {
    const untaken = this.#samples.filter((sample) => !this.#taken.has(sample));
    return untaken.map(({ heading, index }) => `${heading} ${index}`);
  }
}

const HEADING = /^#+ (.*)$/u;
const FENCE = /^( *)```/u;

function listSamples(guide: string): readonly Sample[] {
  const samples: Sample[] = [];
  let heading = '';
  let opened: { readonly indent: number; readonly lines: string[] } | null = null;
  for (const line of guide.split('\n')) {
    const fence = FENCE.exec(line);
    if (opened !== null && fence !== null) {
      const index = samples.filter((sample) => sample.heading === heading).length;
      samples.push({ heading, index, text: `${opened.lines.join('\n')}\n` });
      opened = null;
    } else if (opened !== null) opened.lines.push(line.slice(opened.indent));
    else if (fence !== null) opened = { indent: fence[1]?.length ?? 0, lines: [] };
    else heading = HEADING.exec(line)?.[1] ?? heading;
  }
  return samples;
}

/** Reads a sample of JSON in which comments, alternatives and names of types stand for values. */
export function parseShape(sample: string): Record<string, unknown> {
  const json = sample
    .replaceAll(/ \/\/.*$/gmu, '')
    .replaceAll(/: (boolean|number)\b/gu, ': "$1"')
    .replaceAll(/" \| "/gu, '|');
  return JSON.parse(json);
}

/** What of a value does not have this shape, as paths; `string`, `boolean` and `number` stand for types. */
export function listMisfits(shape: unknown, value: unknown, place = ''): readonly string[] {
  if (typeof shape === 'string') {
    const words = shape.split('|');
    const isFit = ['string', 'boolean', 'number'].includes(shape)
      ? typeof value === shape
      : words.includes(String(value));
    return isFit ? [] : [`${place}: ${JSON.stringify(value)} is not ${shape}`];
  }
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return [`${place}: ${JSON.stringify(value)} is not a list`];
    return value.flatMap((each, at) => listMisfits(shape[0], each, `${place}[${at}]`));
  }
  if (typeof value !== 'object' || value === null) {
    return [`${place}: ${JSON.stringify(value)} is not an object`];
  }
  return Object.entries(shape ?? {}).flatMap(([key, each]) =>
    listMisfits(each, Reflect.get(value, key), `${place}.${key}`),
  );
}
