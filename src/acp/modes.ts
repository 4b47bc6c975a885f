import type * as acp from '@agentclientprotocol/sdk';
import type { SessionState } from '../agent/session/session.ts';
import { listPricedModels } from '../agent/models/prices.ts';
import type { PermissionMode } from '../permissions/permissions.ts';

export const MODE_OPTION = 'mode';
export const MODEL_OPTION = 'model';

const MODES: Readonly<Record<PermissionMode, { readonly name: string; readonly about: string }>> = {
  default: { name: 'Ask', about: 'Reads freely; asks before edits and commands' },
  acceptEdits: { name: 'Accept edits', about: 'Also edits files of the workspace without asking' },
  plan: { name: 'Plan', about: 'Reads and plans; changes nothing' },
  dontAsk: { name: 'Do not ask', about: 'What would be asked is denied' },
  bypassPermissions: { name: 'Bypass permissions', about: 'Does everything that no rule forbids' },
};

/** The permission modes, as editors offer them. */
export function modesOf({ permissionMode }: SessionState): acp.SessionModeState {
  return {
    currentModeId: permissionMode,
    availableModes: Object.entries(MODES).map(([id, { name, about }]) => ({
      id,
      name,
      description: about,
    })),
  };
}

/** The same for editors that know options; those leave modes aside, so they stand here, too. */
export function configOptionsOf(state: SessionState): acp.SessionConfigOption[] {
  return [
    {
      type: 'select',
      id: MODE_OPTION,
      name: 'Mode',
      category: 'mode',
      currentValue: state.permissionMode,
      options: Object.entries(MODES).map(([value, { name, about }]) => ({
        value,
        name,
        description: about,
      })),
    },
    {
      type: 'select',
      id: MODEL_OPTION,
      name: 'Model',
      category: 'model',
      currentValue: state.model.id,
      options: modelNames(state).map((value) => ({ value, name: value })),
    },
  ];
}

const FAMILIES: Readonly<Record<string, string>> = {
  anthropic: 'claude-',
  openai: 'gpt-',
  gemini: 'gemini-',
};

/** Others can be named with `/model`; no service is asked what it has. */
function modelNames({ model: { provider, id } }: SessionState): readonly string[] {
  const family = FAMILIES[provider];
  const known = family === undefined ? [] : listPricedModels(family);
  return [...new Set([id, ...known])];
}
