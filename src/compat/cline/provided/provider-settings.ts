import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { dropUndefined } from '../../../base/defined.ts';
import { systemClock } from '../../../base/clock.ts';
import { HooklineError } from '../../../base/errors.ts';
import { readTextIfPresent } from '../../../base/files.ts';
import { isRecord, parseJson } from '../../../base/json.ts';
import { createInputError } from '../errors.ts';
import { resolveProviderSettingsPath } from './storage-paths.ts';

/** What a user has set for one provider. */
export interface ProviderSettings {
  provider: string;
  model?: string;
  apiKey?: string;
  baseUrl?: string;
  headers?: Record<string, string>;
  [further: string]: unknown;
}

/** The content of Cline's `providers.json`. */
export interface StoredProviderSettings {
  version: number;
  lastUsedProvider?: string;
  modes: Record<string, unknown>;
  providers: Record<
    string,
    { settings: ProviderSettings; updatedAt: string; tokenSource?: string }
  >;
  [further: string]: unknown;
}

export interface ProviderSettingsManagerOptions {
  filePath?: string;
  dataDir?: string;
}

/** Reads and writes the providers that a user has set up in Cline. */
export class ProviderSettingsManager {
  readonly #file: string;

  constructor({ filePath, dataDir }: ProviderSettingsManagerOptions = {}) {
    const inData = dataDir === undefined ? null : path.join(dataDir, 'settings', 'providers.json');
    this.#file = filePath ?? inData ?? resolveProviderSettingsPath();
  }

  getFilePath(): string {
    return this.#file;
  }

  /** An absent or broken file has no settings. */
  read(): StoredProviderSettings {
    const parsed = parseJson(readTextIfPresent(this.#file) ?? '{}');
    const stored = parsed.ok && isRecord(parsed.value) ? parsed.value : {};
    const { version, modes, providers } = stored;
    return {
      ...stored,
      version: typeof version === 'number' ? version : 1,
      modes: isRecord(modes) ? modes : {},
      providers: readProviders(providers),
    };
  }

  /** Only the user may read the file, because it holds keys. */
  write(state: StoredProviderSettings): void {
    mkdirSync(path.dirname(this.#file), { recursive: true, mode: 0o700 });
    writeFileSync(this.#file, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
    chmodSync(this.#file, 0o600);
  }

  saveProviderSettings(
    settings: unknown,
    {
      setLastUsed = true,
      tokenSource = 'manual',
    }: { setLastUsed?: boolean; tokenSource?: string } = {},
  ): StoredProviderSettings {
    if (!isSettings(settings)) {
      throw createInputError(
        'settings',
        'an object with "provider"',
        settings,
        'For example { provider: "anthropic", apiKey }.',
      );
    }
    const { provider } = settings;
    this.#refuseBroken();
    const before = this.read();
    const entry = { settings, updatedAt: new Date(systemClock.now()).toISOString(), tokenSource };
    const state = {
      ...before,
      providers: { ...before.providers, [provider]: entry },
      ...(setLastUsed ? { lastUsedProvider: provider } : {}),
    };
    this.write(state);
    return state;
  }

  /** Saving would replace the keys in a file that only has a slip in it. */
  #refuseBroken(): void {
    const parsed = parseJson(readTextIfPresent(this.#file) ?? '{}');
    if (parsed.ok) return;
    throw new HooklineError('CONFIG_INVALID', {
      message: `${this.#file} is not valid JSON: ${parsed.error}`,
      hint: 'Fix it, or delete it; nothing was saved.',
    });
  }

  getProviderSettings(providerId: string): ProviderSettings | undefined {
    const { providers } = this.read();
    return Object.hasOwn(providers, providerId) ? providers[providerId]?.settings : undefined;
  }

  getLastUsedProviderSettings(): ProviderSettings | undefined {
    const { lastUsedProvider } = this.read();
    return lastUsedProvider === undefined ? undefined : this.getProviderSettings(lastUsedProvider);
  }

  /** What a session takes in its `config`. */
  getProviderConfig(providerId: string): ProviderSessionConfig | undefined {
    return toConfig(this.getProviderSettings(providerId));
  }

  getLastUsedProviderConfig(): ProviderSessionConfig | undefined {
    return toConfig(this.getLastUsedProviderSettings());
  }
}

interface ProviderSessionConfig {
  providerId: string;
  modelId: string;
  apiKey?: string;
  baseUrl?: string;
  headers?: Record<string, string>;
}

function toConfig(settings: ProviderSettings | undefined): ProviderSessionConfig | undefined {
  if (settings === undefined) return undefined;
  const { provider: providerId, model: modelId = '', apiKey, baseUrl, headers } = settings;
  return { providerId, modelId, ...dropUndefined({ apiKey, baseUrl, headers }) };
}

function readProviders(value: unknown): StoredProviderSettings['providers'] {
  const entries = Object.entries(isRecord(value) ? value : {});
  return Object.fromEntries(
    entries.flatMap(([id, entry]) => {
      if (!isRecord(entry) || !isSettings(entry['settings'])) return [];
      const { settings, updatedAt, tokenSource } = entry;
      const source = typeof tokenSource === 'string' ? { tokenSource } : {};
      return [
        [id, { settings, updatedAt: typeof updatedAt === 'string' ? updatedAt : '', ...source }],
      ];
    }),
  );
}

function isSettings(value: unknown): value is ProviderSettings {
  return isRecord(value) && typeof value['provider'] === 'string' && value['provider'] !== '';
}
