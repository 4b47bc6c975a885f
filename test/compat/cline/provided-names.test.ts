import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { findProvidedModule } from '../../../src/compat/cline/provided.ts';
import { createPluginFiles } from '../../plugins/load/plugin-files.ts';

// Public plugins were found to take these from `@cline/shared` and its storage; most of them catch what
// goes wrong there, so a name that is missing removes their tools without a report.

function homeOfItsOwn(): string {
  const home = mkdtempSync(path.join(os.tmpdir(), 'hookline-home-'));
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(home, { recursive: true, force: true });
  });
  vi.stubEnv('HOME', home);
  vi.stubEnv('CLINE_DIR', '');
  vi.stubEnv('CLINE_DATA_DIR', '');
  vi.stubEnv('CLINE_MCP_SETTINGS_PATH', '');
  return home;
}

const PLACES = `
import { resolveClineDataDir, resolveClineDir, resolveGlobalSettingsPath, resolveMcpSettingsPath } from '@cline/shared/storage';
export default {
  name: 'places',
  manifest: { capabilities: ['tools'] },
  said: () => [resolveClineDir(), resolveClineDataDir(), resolveGlobalSettingsPath(), resolveMcpSettingsPath()],
};
`;

const RESULTS = `
import { safeJsonParse, safeJsonStringify } from '@cline/shared';
const loop: Record<string, unknown> = { a: 1n };
loop.self = loop;
const twice = { k: 1 };
export default {
  name: 'results',
  manifest: { capabilities: ['tools'] },
  said: () => [
    safeJsonStringify(loop),
    safeJsonStringify({ x: twice, y: twice }),
    safeJsonStringify(undefined),
    safeJsonStringify({ toJSON() { throw new Error('no'); } }),
    safeJsonParse('{"a":1}'),
    safeJsonParse('{a'),
  ],
};
`;

describe('what published plugins import from @cline/shared', () => {
  it('knows where Cline keeps what belongs to a user', async () => {
    const home = homeOfItsOwn();
    const files = createPluginFiles({ 'places.ts': PLACES });
    const plugin = await files.plugin('places.ts', { provided: findProvidedModule });
    const data = path.join(home, '.cline', 'data');
    expect(plugin['said']()).toEqual([
      path.join(home, '.cline'),
      data,
      path.join(data, 'settings', 'global-settings.json'),
      path.join(data, 'settings', 'cline_mcp_settings.json'),
    ]);
    vi.stubEnv('CLINE_DATA_DIR', path.join(home, 'elsewhere'));
    expect(plugin['said']()[1]).toBe(path.join(home, 'elsewhere'));
  });

  it('converts any result to JSON', async () => {
    const files = createPluginFiles({ 'results.ts': RESULTS });
    const plugin = await files.plugin('results.ts', { provided: findProvidedModule });
    expect(plugin['said']()).toEqual([
      '{"a":"1","self":"[Circular]"}',
      '{"x":{"k":1},"y":{"k":1}}',
      'null',
      '"(it cannot be converted to JSON: no)"',
      { a: 1 },
      undefined,
    ]);
  });
});
