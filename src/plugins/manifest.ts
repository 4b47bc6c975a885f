import { isRecord, getTypeName } from '../base/json.ts';
import { findClosestName } from '../base/did-you-mean.ts';
import { type AgentExtensionCapability, CAPABILITIES } from './contract/plugin.ts';
import { HOOK_NAMES } from './contract/runtime-hooks.ts';

/** What a plugin's fields declare, read before any of its code runs. */
export interface ManifestReading {
  readonly name: string;
  /** Why the plugin cannot be used, or null. */
  readonly problem: string | null;
  /** The rules that it breaks: a strict host refuses it for them, any other warns. */
  readonly violations: readonly string[];
}

/** Reads the manifest of a plugin; `label` is its name when it declares none. */
export function readManifest(plugin: unknown, label: string): ManifestReading {
  if (!isRecord(plugin)) {
    const problem = `expected a plugin object, found ${getTypeName(plugin)}`;
    return { name: label, problem, violations: [] };
  }
  const { name: own } = plugin;
  const name = typeof own === 'string' && own.trim() !== '' ? own : label;
  const problem = findProblem(plugin);
  return { name, problem, violations: problem === null ? findViolations(plugin) : [] };
}

type Fields = Readonly<Record<string, unknown>>;

function findProblem(plugin: Fields): string | null {
  const { manifest, hooks, setup } = plugin;
  if (!isRecord(manifest)) {
    return `expected "manifest" to be an object, found ${describeFound(manifest)}`;
  }
  const problem =
    findCapabilityProblem(manifest['capabilities']) ??
    findListProblem(manifest, 'providerIds') ??
    findListProblem(manifest, 'modelIds');
  if (problem !== null) return problem;
  if (setup !== undefined && typeof setup !== 'function') {
    return `expected "setup" to be a function, found ${describeFound(setup)}`;
  }
  return findHooksProblem(hooks, manifest['capabilities']);
}

function describeFound(value: unknown): string {
  return value === undefined ? 'nothing' : getTypeName(value);
}

/** Why a value is not a valid list of capabilities, or null. */
export function findCapabilityProblem(capabilities: unknown): string | null {
  if (!Array.isArray(capabilities) || capabilities.length === 0) {
    return `expected "capabilities" to be a list with at least one of ${CAPABILITIES.join(', ')}`;
  }
  const unknown: unknown = capabilities.find((each) => !isCapability(each));
  if (unknown === undefined) return null;
  const closest = typeof unknown === 'string' ? findClosestName(unknown, CAPABILITIES) : null;
  const hint =
    closest === null ? `known are ${CAPABILITIES.join(', ')}` : `did you mean "${closest}"?`;
  return `capability ${JSON.stringify(unknown)} not found; ${hint}`;
}

function isCapability(value: unknown): value is AgentExtensionCapability {
  return CAPABILITIES.some((each) => each === value);
}

function findListProblem(manifest: Fields, key: string): string | null {
  if (!Object.hasOwn(manifest, key)) return null;
  const value = manifest[key];
  const isFine = Array.isArray(value) && value.every((each) => typeof each === 'string');
  return isFine || value === undefined ? null : `expected "${key}" to be a list of strings`;
}

function findHooksProblem(hooks: unknown, capabilities: unknown): string | null {
  if (hooks === undefined) return null;
  if (!isRecord(hooks)) return `expected "hooks" to be an object, found ${getTypeName(hooks)}`;
  const isDeclared = Array.isArray(capabilities) && capabilities.includes('hooks');
  return isDeclared ? null : 'it has "hooks", so "hooks" must be among its capabilities';
}

function findViolations({ manifest, hooks }: Fields): readonly string[] {
  const capabilities = isRecord(manifest) ? manifest['capabilities'] : [];
  const isPromised = Array.isArray(capabilities) && capabilities.includes('hooks');
  if (hooks === undefined) {
    return isPromised ? ['it declares the capability "hooks" and has no hooks'] : [];
  }
  return Object.entries(hooks ?? {}).flatMap(([name, hook]) => findHookViolation(name, hook));
}

function findHookViolation(name: string, hook: unknown): readonly string[] {
  if (!HOOK_NAMES.some((each) => each === name)) {
    // Hooks may be methods of an object with other properties.
    if (typeof hook !== 'function') return [];
    const closest = findClosestName(name, HOOK_NAMES);
    const hint = closest === null ? '' : `; did you mean ${closest}?`;
    return [`hook ${JSON.stringify(name)} not found${hint}`];
  }
  if (hook === undefined || typeof hook === 'function') return [];
  return [`its hook ${name} is not a function, but ${getTypeName(hook)}`];
}
