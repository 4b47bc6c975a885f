import type { ToolSpec } from '../src/agent/models/model.ts';
import { TOOLS } from '../src/agent/tools/index.ts';
import type { Tool, ToolKind } from '../src/agent/tools/tool.ts';
import { listToolSpecs, TOOLSETS, type Toolset } from '../src/agent/tools/toolsets.ts';
import type { GeneratedFile } from './generated-file.ts';
import { code, formatPage, formatTable } from './markdown.ts';

export function toolsPage(): GeneratedFile {
  return {
    path: 'docs/reference/tools.md',
    text: formatPage('Tools', 'src/agent/tools', [
      'The agent has one set of tools. `--toolset` picks the names and inputs that the model gets; a call is accepted under any name of its tool, and hooks see theirs in every case. A tool without a name of its own in a set keeps its Claude name. Optional fields end in `?`.',
      '## Names and inputs',
      formatTable(['Tool', 'Kind', ...TOOLSETS.map(code)], TOOLS.map(namesRow)),
      '## What the kinds mean',
      formatTable(
        ['Kind', 'What such a call does', 'Without a rule, in the mode `default`'],
        Object.entries(KINDS).map(([kind, words]) => [code(kind), ...words]),
      ),
      'Calls of one turn that only read or plan run side by side; all others run alone, in their order.',
    ]),
  };
}

function namesRow(tool: Tool): string[] {
  return [code(tool.name), code(tool.kind), ...TOOLSETS.map((toolset) => faceOf(tool, toolset))];
}

function faceOf(tool: Tool, toolset: Toolset): string {
  return listToolSpecs(toolset, [tool]).map(describe).join(', ');
}

function describe({ name, schema }: ToolSpec): string {
  const fields = fieldsOf(schema);
  return fields.length === 0 ? code(name) : code(`${name}(${fields.join(', ')})`);
}

function fieldsOf({ properties, required }: ToolSpec['schema']): string[] {
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.keys(properties ?? {}).map((key) => (needed.includes(key) ? key : `${key}?`));
}

const KINDS: Readonly<Record<ToolKind, readonly [does: string, inDefault: string]>> = {
  read: ['reads files', 'allowed inside the workspace, else asked'],
  edit: ['changes files', 'asked'],
  execute: ['runs a program', 'asked, unless all it runs only reads inside the workspace'],
  fetch: ['gets something from the network', 'asked'],
  plan: ['changes nothing outside the session', 'allowed'],
  ask: ['asks the user something', 'allowed; `ExitPlanMode` is asked'],
};
