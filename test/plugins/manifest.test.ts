import { describe, expect, it } from 'vitest';
import { readManifest } from '../../src/plugins/manifest.ts';

const fine = { name: 'fine', manifest: { capabilities: ['hooks'] }, hooks: {} };

describe('a manifest', () => {
  it('may be the only field of a plugin', () => {
    const plugin = { name: 'skilled', manifest: { capabilities: ['skills'] } };
    expect(readManifest(plugin, 'it')).toEqual({ name: 'skilled', problem: null, violations: [] });
  });

  const wrong: readonly [string, unknown, string][] = [
    ['a plugin that is none', 5, 'expected a plugin object, found number'],
    ['no list', { ...fine, manifest: {} }, 'expected "capabilities" to be a list'],
    ['an empty list', { ...fine, manifest: { capabilities: [] } }, 'with at least one of hooks'],
    [
      'a list of other things',
      { ...fine, manifest: { capabilities: ['hooks'], modelIds: [5] } },
      'expected "modelIds" to be a list of strings',
    ],
    ['a setup that is none', { ...fine, setup: {} }, 'expected "setup" to be a function'],
    ['hooks that are none', { ...fine, hooks: [] }, 'expected "hooks" to be an object'],
  ];

  it.each(wrong)('is refused for %s', (_what, plugin, problem) => {
    expect(readManifest(plugin, 'it').problem).toContain(problem);
  });

  it('gives a plugin without a name a number', () => {
    expect(readManifest({ manifest: { capabilities: ['tools'] } }, 'its-file').name).toBe(
      'its-file',
    );
  });

  it('has a warning about hooks that are never called', () => {
    const hooks = { beforeTol: () => undefined, afterRun: 'later' };
    expect(readManifest({ ...fine, hooks }, 'it').violations).toEqual([
      'hook "beforeTol" not found; did you mean beforeTool?',
      'its hook afterRun is not a function, but string',
    ]);
  });

  it('may have something else beside its hooks', () => {
    class Counting {
      count = 0;
      beforeTool(): void {
        this.count += 1;
      }
    }
    expect(readManifest({ ...fine, hooks: new Counting() }, 'it').violations).toEqual([]);
  });
});
