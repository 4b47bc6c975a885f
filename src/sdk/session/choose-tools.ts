import { TOOLS } from '../../agent/tools/index.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import { listToolSpecs } from '../../agent/tools/toolsets.ts';
import { TOOL_NAMES } from '../../hooks/faces/faces.ts';

/** Of Hookline's own tools those that Cline's SDK has, too, in its order. */
const OWN = ['Read', 'Grep', 'Bash', 'WebFetch', 'Write', 'Edit', 'Skill'];

export interface ToolChoice {
  /** Whether the model is told of a tool under this name. */
  readonly offers: (name: string) => boolean;
  readonly hasOwnTools: boolean;
  readonly hasServerTools: boolean;
  readonly maySpawn: boolean;
  readonly mayAsk: boolean;
  /** Told of a tool that cannot be had because another one that stands above it has its name. */
  readonly onClash: (tool: Tool, other: string) => void;
}

/** Picks the tools of a session: those of plugins and of the program first, then Hookline's own, then servers'. */
export function chooseTools(
  choice: ToolChoice,
): (all: readonly Tool[], ofPlugins: readonly Tool[]) => readonly Tool[] {
  const told = new Set<string>();
  return (all, ofPlugins) => {
    const own = choice.hasOwnTools ? ownTools(all, choice) : [];
    const isForeign = (tool: Tool): boolean => !TOOLS.includes(tool);
    const foreign = choice.hasServerTools ? all.filter(isForeign) : [];
    const free = ofPlugins.filter((tool) => {
      const { name } = tool;
      const other = ownerOf(name, { own, foreign });
      if (other !== null && !told.has(name)) choice.onClash(tool, other);
      if (other !== null) told.add(name);
      return other === null;
    });
    return [...free, ...own, ...foreign].filter((tool) => facesOf(tool).some(choice.offers));
  };
}

function ownTools(all: readonly Tool[], choice: ToolChoice): readonly Tool[] {
  const names = [
    ...OWN,
    ...(choice.mayAsk ? ['AskUserQuestion'] : []),
    ...(choice.maySpawn ? ['Agent'] : []),
  ];
  return names.flatMap((name) => all.find((tool) => tool.name === name) ?? []);
}

interface Standing {
  readonly own: readonly Tool[];
  readonly foreign: readonly Tool[];
}

/** Whose tool has this name already; null when nobody's. */
function ownerOf(name: string, { own, foreign }: Standing): string | null {
  const has = (tools: readonly Tool[]): boolean =>
    tools.some((tool) => tool.name === name || facesOf(tool).includes(name));
  if (has(own)) return "one of Hookline's own";
  return has(foreign) ? 'one of an MCP server' : null;
}

/** The names under which a tool can be used; a patch that makes a file needs what writes files. */
function facesOf(tool: Tool): readonly string[] {
  const known = TOOL_NAMES.find(({ claude }) => claude === tool.name)?.sdk ?? [];
  return [...new Set([...listToolSpecs('cline-sdk', [tool]).map(({ name }) => name), ...known])];
}
