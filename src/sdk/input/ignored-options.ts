import { isRecord } from '../../base/json.ts';
import type { ClineCoreOptions, ClineCoreStartInput } from '../start-input.ts';

/** Options of Cline's that do nothing here, and what to do instead. */
const OF_CONFIG: Readonly<Record<string, string>> = {
  execution: 'loops and failures in a row end a run by rules of Hookline’s own',
  compaction: 'when to compact is the setting agent.compactAt',
  checkpoint: 'use the history of your version control',
  providerConfig: 'give apiKey, baseUrl, headers and fetch themselves',
  knownModels: 'any modelId is sent as it is',
  thinkingBudgetTokens: 'use reasoningEffort',
  skills: 'skills are found in the workspace and at home',
  toolRoutingRules: 'editor and apply_patch are both offered',
  onTeamEvent: 'there are no teams',
  teamName: 'there are no teams',
  onConsecutiveMistakeLimitReached: 'such a run ends, and its result says so',
};

const OF_CORE: Readonly<Record<string, string>> = {
  featureFlags: 'there are none',
  messagesArtifactUploader: 'messages stay on this machine',
  sessionService: 'sessions are stored in ~/.hookline/sessions',
};

/** A sentence for each option that is given and does nothing: it must not look as if it did. */
export function ignoredOptions(
  core: ClineCoreOptions,
  input: ClineCoreStartInput,
): readonly string[] {
  return [
    ...sentences('config.', input.config, OF_CONFIG),
    ...sentences('', { ...core }, OF_CORE),
    ...Object.keys(input.localRuntime ?? {})
      .filter((key) => key !== 'pluginPaths' && key !== 'configExtensions')
      .map((key) => `localRuntime.${key} does nothing here`),
  ];
}

function sentences(
  place: string,
  given: Readonly<Record<string, unknown>>,
  known: Readonly<Record<string, string>>,
): readonly string[] {
  return Object.entries(known).flatMap(([key, instead]) => {
    const value = given[key];
    const isOff = isRecord(value) && value['enabled'] === false && key === 'checkpoint';
    return value === undefined || isOff ? [] : [`${place}${key} does nothing here: ${instead}`];
  });
}

/** Files of plugins that a program names, wherever it may do so. */
export function pluginPathsIn({ config, localRuntime }: ClineCoreStartInput): readonly string[] {
  const given: unknown = localRuntime?.['pluginPaths'];
  const further = Array.isArray(given) ? given.map(String) : [];
  return [...(config.pluginPaths ?? []), ...further];
}
