import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as testing from '../../src/testing.ts';
import { parseCase } from '../../src/testing/case-fields.ts';

const GUIDE = 'docs/guide/testing-hooks.md';
const text = readFileSync(GUIDE, 'utf8');

describe('the guide to testing hooks', () => {
  it('has cases that can be read', () => {
    const cases = [...text.matchAll(/```json\n(.*?)```/gsu)].map((match) => match[1] ?? '');
    expect(cases.map((each) => parseCase(each, GUIDE).fire)).toHaveLength(2);
  });

  it('names every function of the entry, and imports none that is not there', () => {
    const functions = Object.keys(testing).filter((name) => /^[a-z]/u.test(name));
    const described = functions.filter((name) => name !== 'isHooklineError');
    expect(described.filter((name) => !text.includes(`\`${name}(`))).toEqual([]);
    const imported = [...text.matchAll(/import \{ (.*?) \} from 'hookline\/testing'/gu)].flatMap(
      (match) => (match[1] ?? '').split(', '),
    );
    expect(imported.filter((name) => !functions.includes(name))).toEqual([]);
  });
});
