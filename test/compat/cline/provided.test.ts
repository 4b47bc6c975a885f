import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as hookline from '../../../src/index.ts';
import * as author from '../../../src/plugin.ts';
import { findProvidedModule } from '../../../src/compat/cline/provided.ts';

const APPENDIX = [
  'createTool',
  'ClineCore',
  'Agent',
  'createAgent',
  'createAgentRuntime',
  'Llms',
  'createContributionRegistry',
  'ContributionRegistry',
  'loadAgentPluginFromPath',
  'loadAgentPluginsFromPaths',
  'loadAgentPluginsFromPathsWithDiagnostics',
  'resolveAndLoadAgentPlugins',
  'resolveAgentPluginPaths',
  'discoverPluginModulePaths',
  'resolvePluginConfigSearchPaths',
  'installPlugin',
  'uninstallPlugin',
  'parsePluginSource',
  'isOfficialPluginSlug',
  'listPluginTools',
  'createPluginCommandService',
  'normalizePluginCommandName',
  'DefaultToolNames',
  'ALL_DEFAULT_TOOL_NAMES',
  'ToolPresets',
  'createBuiltinTools',
  'noopBasicLogger',
  'stripUtf8Bom',
  'SessionNotFoundError',
  'isSessionNotFoundError',
];

const SHARED = [
  'createTool',
  'estimateTokens',
  'zodToJsonSchema',
  'validateWithZod',
  'normalizePluginManifest',
];

function namesOf(specifier: string): readonly string[] {
  return Object.keys(findProvidedModule(specifier) ?? {});
}

describe('the replacements of Cline’s packages', () => {
  it('have every value that plugins import, in the packages that they import it from', () => {
    expect(APPENDIX.filter((name) => !namesOf('@cline/core').includes(name))).toEqual([]);
    expect(SHARED.filter((name) => !namesOf('@cline/shared').includes(name))).toEqual([]);
    expect(findProvidedModule('@cline/sdk')).toBe(findProvidedModule('@cline/core'));
    expect(findProvidedModule('@cline/shared/browser')).toBe(findProvidedModule('@cline/shared'));
    expect(namesOf('@cline/agents')).toEqual([
      'Agent',
      'AgentRuntime',
      'createAgent',
      'createAgentRuntime',
      'createTool',
    ]);
    expect(namesOf('@cline/llms')).toContain('registerProvider');
    expect(Object.values(findProvidedModule('@cline/core') ?? {})).not.toContain(undefined);
  });

  it('cover no other packages', () => {
    for (const other of ['zod', '@cline/cli', 'constructor', '__proto__', '']) {
      expect(findProvidedModule(other)).toBeNull();
    }
  });

  it('are what the library exports, so that an alias of the package works as well', () => {
    const missing = APPENDIX.filter((name) => !(name in hookline));
    expect([...missing, ...SHARED.filter((name) => !(name in hookline))]).toEqual([]);
    expect(namesOf('hookline').toSorted()).toEqual(Object.keys(hookline).toSorted());
    expect(namesOf('hookline/plugin').toSorted()).toEqual(Object.keys(author).toSorted());
  });
});

describe('small functions of @cline/shared', () => {
  it('a schema of zod is converted to JSON Schema', () => {
    expect(hookline.zodToJsonSchema(z.object({ a: z.string() }))).toEqual({
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
    });
  });

  it('an input is checked, and every error in it is listed', () => {
    const schema = z.object({ a: z.string(), b: z.number().default(2) });
    expect(hookline.validateWithZod(schema, { a: 'x' })).toEqual({ a: 'x', b: 2 });
    expect(() => hookline.validateWithZod(schema, { a: 1, b: 'x' })).toThrow(
      'a: Invalid input: expected string, received number; b: Invalid input: expected number, received string',
    );
    const slow = schema.refine(async () => true);
    expect(() => hookline.validateWithZod(slow, { a: 'x' })).toThrow('takes its time');
  });

  it('a manifest’s names are trimmed, and a list that has none left stays as it was', () => {
    const capabilities = ['tools' as const];
    expect(
      hookline.normalizePluginManifest({ capabilities, providerIds: [' a ', ''], modelIds: [' '] }),
    ).toEqual({ capabilities, providerIds: ['a'], modelIds: [' '] });
  });

  it('the names of Cline’s tools are these', () => {
    expect(hookline.ALL_DEFAULT_TOOL_NAMES).toEqual([
      'read_files',
      'search_codebase',
      'run_commands',
      'fetch_web_content',
      'apply_patch',
      'editor',
      'skills',
      'ask_question',
      'submit_and_exit',
    ]);
    expect(Object.keys(hookline.ToolPresets)).toEqual(['act', 'plan', 'search', 'minimal', 'yolo']);
    expect(hookline.ToolPresets.yolo).toMatchObject({ enableBash: true, enableSearch: false });
  });

  it('sources of plugins are parsed as installPlugin accepts them', () => {
    const { parsePluginSource, isOfficialPluginSlug } = hookline;
    expect(parsePluginSource('npm:left-pad@1.0.0')).toEqual({
      type: 'npm',
      spec: 'left-pad@1.0.0',
      name: 'left-pad',
    });
    expect(parsePluginSource('@scope/x')).toEqual({
      type: 'npm',
      spec: '@scope/x',
      name: '@scope/x',
    });
    expect(parsePluginSource('https://github.com/owner/repo#v1')).toMatchObject({
      type: 'git',
      host: 'github.com',
      ref: 'v1',
    });
    expect(parsePluginSource('https://example.com/a/plugin.ts')).toEqual({
      type: 'remote',
      url: 'https://example.com/a/plugin.ts',
      filename: 'plugin.ts',
    });
    expect(parsePluginSource('/a/b')).toEqual({ type: 'local', path: '/a/b' });
    expect(parsePluginSource('branch-protector')).toEqual({
      type: 'official',
      slug: 'branch-protector',
    });
    expect(isOfficialPluginSlug('Not/one')).toBe(false);
    expect(() => parsePluginSource('github.com/owner/repo')).toThrow('use "git" for a repository');
    expect(() => parsePluginSource(' ')).toThrow('expected a path');
    expect(parsePluginSource('github.com/owner/repo', 'git')).toMatchObject({ type: 'git' });
  });
});
