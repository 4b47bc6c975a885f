import path from 'node:path';
import { type ESTree, Visitor } from 'rolldown/utils';
import { describe, expect, it } from 'vitest';
import { countForBudgets } from '../../scripts/budget-counts.ts';
import { findImports } from '../../scripts/module-imports.ts';
import { readSourceFiles, type SourceFile } from '../../scripts/source-files.ts';

const sources = readSourceFiles('.', ['src']).toSorted((a, b) => (a.path < b.path ? -1 : 1));

/** The files of src that import this file for more than its types. */
function importersOf(target: string): string[] {
  return sources
    .filter((source) => importedFiles(source).includes(target))
    .map((source) => source.path);
}

function importedFiles(source: SourceFile): string[] {
  return findImports(source.program)
    .filter(({ specifier, isTypeOnly }) => specifier.startsWith('.') && !isTypeOnly)
    .map(({ specifier }) => path.posix.join(path.posix.dirname(source.path), specifier));
}

/** The files of src whose code names something, strings and comments not counted. */
function filesNaming(name: string): string[] {
  return sources.filter(({ program }) => namesIn(program).has(name)).map((source) => source.path);
}

function namesIn(program: ESTree.Program): Set<string> {
  const names = new Set<string>();
  new Visitor({ Identifier: ({ name }) => names.add(name) }).visit(program);
  return names;
}

/** The files of src that write an object with all of these keys, and so make a thing of that shape. */
function makersOf(keys: readonly string[]): string[] {
  return sources
    .filter(({ program }) =>
      writtenObjects(program).some((own) => keys.every((key) => own.has(key))),
    )
    .map((source) => source.path);
}

function writtenObjects(program: ESTree.Program): Set<string>[] {
  const objects: Set<string>[] = [];
  new Visitor({
    ObjectExpression: ({ properties }) => objects.push(new Set(properties.flatMap(keyOf))),
  }).visit(program);
  return objects;
}

function keyOf(property: ESTree.ObjectPropertyKind): string[] {
  if (property.type !== 'Property') return [];
  return property.key.type === 'Identifier' ? [property.key.name] : [];
}

describe('there is one merge:', () => {
  it('only the dispatch uses it, and one entry exports it', () => {
    expect(importersOf('src/hooks/merge.ts')).toEqual(['src/hooks.ts', 'src/hooks/engine.ts']);
  });

  it('nothing else compares effects', () => {
    expect(filesNaming('pickStrictest')).toEqual(['src/hooks/decision.ts', 'src/hooks/merge.ts']);
  });

  it('nothing else makes a verdict, except for the empty one of an event without handlers', () => {
    expect(makersOf(['effect', 'reasons', 'context', 'outcomes', 'skipped', 'changes'])).toEqual([
      'src/hooks/decision.ts',
      'src/hooks/merge.ts',
    ]);
  });
});

describe('the source', () => {
  it('has files that these checks can read', () => {
    expect(sources.length).toBeGreaterThan(80);
    expect(filesNaming('mergeOutcomes')).toContain('src/hooks/merge.ts');
  });

  it('writes to the console only where output is printed', () => {
    // The other one is what keeps plugins from doing so.
    const may = ['src/cli/words/print.ts', 'src/host/plugins/process-ports.ts'];
    expect(filesNaming('console').filter((file) => !may.includes(file))).toEqual([]);
  });

  it('throws no bare errors', () => {
    const throwing = sources.filter(
      ({ program }) => countForBudgets(program).bareThrows.length > 0,
    );
    expect(throwing.map((source) => source.path)).toEqual([]);
  });

  it('runs programs only in the folder that ends them as a tree', () => {
    const spawning = sources.filter(({ program }) =>
      findImports(program).some(
        ({ specifier, isTypeOnly }) =>
          !isTypeOnly && ['node:child_process', 'cross-spawn'].includes(specifier),
      ),
    );
    expect(spawning.filter((source) => !source.path.startsWith('src/process/'))).toEqual([]);
  });

  it('runs handlers only in the dispatch', () => {
    expect(filesNaming('startHandler')).toEqual([
      'src/hooks/engine.ts',
      'src/hooks/run-handler.ts',
    ]);
  });
});
