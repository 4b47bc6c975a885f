import { listToolViews, type Vocabulary } from '../../tool-vocabularies/tool-views.ts';
import type { ToolSpec } from '../models/model.ts';
import type { Tool } from './tool.ts';
import { CLASSIC_SPECS, type SpecTable, SDK_SPECS } from './toolset-specs.ts';

/** The vocabulary in which the model sees its tools. Calls are accepted in all of them. */
export const TOOLSETS = ['claude', 'cline-classic', 'cline-sdk'] as const;

export type Toolset = (typeof TOOLSETS)[number];

export function isToolset(name: unknown): name is Toolset {
  return TOOLSETS.some((toolset) => toolset === name);
}

// Functions, so that a table is built only when it is used.
const TABLES: Readonly<Record<Toolset, () => SpecTable>> = {
  claude: () => ({}),
  'cline-classic': () => CLASSIC_SPECS,
  'cline-sdk': () => SDK_SPECS,
};

/** The tool specs for the model; a tool without a spec in the vocabulary keeps its Claude Code name. */
export function listToolSpecs(toolset: Toolset, tools: readonly Tool[]): readonly ToolSpec[] {
  const table = new Map(Object.entries(TABLES[toolset]()));
  const specs = tools.flatMap((tool) => table.get(tool.name) ?? [toToolSpec(toolset, tool)]);
  return [...new Set(specs)];
}

function toToolSpec(toolset: Toolset, tool: Tool): ToolSpec {
  const { name, description, schema } = tool;
  const isForeign = toolset === 'cline-sdk' && tool.server !== undefined;
  return { name: isForeign ? toSdkName(name) : name, description, schema };
}

/** `server__tool`, unless that name means another tool. */
function toSdkName(name: string): string {
  const shorter = translateName('sdk', name);
  return translateName('claude', shorter) === name ? shorter : name;
}

function translateName(vocabulary: Vocabulary, name: string): string {
  return listToolViews({ name, input: {} }, vocabulary, { cwd: '/', root: null })[0]?.name ?? name;
}
