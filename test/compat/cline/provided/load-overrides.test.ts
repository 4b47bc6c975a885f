import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { loadOverrides } from '../../../../src/plugin.ts';
import { directoryWith } from '../../../plugins/author/documented-plugins.ts';

/** A package, a home and a workspace with files of the kind `agents`. */
function tiers(files: Readonly<Record<string, string>>) {
  const directory = directoryWith(files);
  vi.stubEnv('HOME', path.join(directory, 'home'));
  for (const name of ['CLINE_DIR', 'CLINE_DATA_DIR']) vi.stubEnv(name, undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  return {
    directory,
    bundled: pathToFileURL(path.join(directory, 'package/agents')),
    workspaceRoot: path.join(directory, 'work'),
  };
}

const GLOBAL = 'home/.cline/data/settings/agents';
const PROJECT = 'work/.cline/agents';

describe('files that can be overridden', () => {
  it('are those of the project, then of the user, then of the package, by name', () => {
    const { directory: _, ...places } = tiers({
      'package/agents/a.md': 'a of the package',
      'package/agents/b.md': 'b of the package',
      'package/agents/c.md': 'c of the package',
      [`${GLOBAL}/b.md`]: 'b of the person',
      [`${GLOBAL}/c.md`]: 'c of the person',
      [`${PROJECT}/c.md`]: '\uFEFFc of the project',
      [`${PROJECT}/d.md`]: 'd of the project',
    });
    const found = loadOverrides({ kind: 'agents', ...places });
    expect(found.map(({ name, tier, text }) => [name, tier, text])).toEqual([
      ['a', 'bundled', 'a of the package'],
      ['b', 'global', 'b of the person'],
      ['c', 'project', 'c of the project'],
      ['d', 'project', 'd of the project'],
    ]);
    const { workspaceRoot: _root, ...elsewhere } = places;
    expect(loadOverrides({ kind: 'agents', ...elsewhere }).map(({ tier }) => tier)).toEqual([
      'bundled',
      'global',
      'global',
    ]);
  });

  it('may be chosen by their endings, and named by their content', () => {
    const { directory: _, ...places } = tiers({
      'package/agents/one.md': 'name: reviewer\nbundled',
      'package/agents/notes.txt': 'no agent',
      'package/agents/.hidden.md': 'hidden',
      [`${PROJECT}/another.md`]: 'name: reviewer\nproject',
      [`${PROJECT}/nameless.md`]: 'nothing',
    });
    const found = loadOverrides({
      kind: 'agents',
      ...places,
      extensions: ['.md'],
      nameOf: ({ text }) => /^name: (\w+)$/mu.exec(text)?.[1] ?? null,
    });
    expect(found).toEqual([
      {
        name: 'reviewer',
        tier: 'project',
        path: path.join(places.workspaceRoot, '.cline/agents/another.md'),
        text: 'name: reviewer\nproject',
      },
    ]);
  });

  it('that cannot be used are reported, and do not affect the others', () => {
    const { directory, ...places } = tiers({
      'package/agents/a.md': 'a',
      'secret.md': 'of nobody’s business',
      [`${PROJECT}/b.md`]: 'b',
    });
    const project = path.join(places.workspaceRoot, '.cline/agents');
    symlinkSync(path.join(directory, 'secret.md'), path.join(project, 'secret.md'));
    symlinkSync(path.join(directory, 'nothing'), path.join(project, 'gone.md'));
    mkdirSync(path.join(project, 'folder.md'));
    writeFileSync(path.join(project, 'huge.md'), Buffer.alloc(1024 * 1024 + 1));
    const problems: string[] = [];
    const found = loadOverrides({
      kind: 'agents',
      ...places,
      onProblem: (problem) => problems.push(problem),
    });
    expect(found.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(problems).toEqual([
      expect.stringMatching(/gone\.md is left out: ENOENT/u),
      expect.stringMatching(/huge\.md is left out: it has 1048577 bytes/u),
      expect.stringMatching(/secret\.md is left out: a link leads out of the workspace/u),
    ]);
  });

  it('have a kind whose path stays below the searched directories', () => {
    for (const kind of ['', '..', '../x', '/etc', 'a//b', '.ssh']) {
      expect(() => loadOverrides({ kind, bundled: '/nowhere' })).toThrow('expected "kind"');
    }
    expect(loadOverrides({ kind: 'squad/agents', bundled: '/nowhere' })).toEqual([]);
  });
});
