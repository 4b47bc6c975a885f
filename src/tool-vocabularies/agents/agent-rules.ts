import { isRecord } from '../../base/json.ts';
import type { Fields } from '../fields.ts';
import {
  createPlainForm,
  createRenamedForm,
  describeNonObject,
  type ToolForm,
} from '../tool-form.ts';
import { parseQualifiedName, type ToolKind, type VocabularyRules } from '../vocabulary.ts';

/** What differs between the vocabularies of other agents. */
export interface AgentTools extends Pick<VocabularyRules, 'forms' | 'otherForms'> {
  readonly pluralNames?: VocabularyRules['pluralNames'];
  /** The key of a path, by the name of the field. */
  readonly pathKeys: Readonly<Record<string, string>>;
  /** Absent for names as Claude has them: `mcp__server__tool`. */
  readonly mcp?: Pick<VocabularyRules, 'readMcpTarget' | 'createMcpForm'>;
}

const MCP_PREFIX = 'mcp__';

/** How most agents name the tools of MCP servers. */
const QUALIFIED: Pick<VocabularyRules, 'readMcpTarget' | 'createMcpForm'> = {
  readMcpTarget: ({ name }) =>
    name.startsWith(MCP_PREFIX) ? parseQualifiedName(name.slice(MCP_PREFIX.length)) : null,
  createMcpForm: ({ server, tool }) => createPlainForm(`${MCP_PREFIX}${server}__${tool}`, []),
};

/** Completes the tools of an agent to the rules of its vocabulary; its paths are absolute. */
export function createAgentRules({
  forms,
  otherForms,
  pluralNames = {},
  pathKeys,
  mcp = QUALIFIED,
}: AgentTools): VocabularyRules {
  return {
    forms,
    ...(otherForms === undefined ? {} : { otherForms }),
    formerNames: {},
    pluralNames,
    changeNames: [],
    changeKeys: [],
    takesBareLists: false,
    alwaysSaysPath: false,
    getPathKey: (field) => pathKeys[field] ?? null,
    getPathBase: ({ cwd }) => cwd,
    writePath: ({ absolute }) => absolute(),
    ...mcp,
  };
}

/** Creates the forms of one tool under several names, or with several sets of keys. */
export function createRenamedForms(
  names: readonly string[],
  ...keySets: readonly Readonly<Record<string, string>>[]
): readonly ToolForm[] {
  return names.flatMap((name) => keySets.map((keys) => createRenamedForm(name, keys)));
}

/** Creates the form of a tool that lists a directory: a search for everything in it. */
export function createDirectoryForm(name: string, key: string): ToolForm {
  return {
    name,
    keys: [key],
    constants: {},
    list: null,
    show: ({ path }) => (path === undefined ? {} : { [key]: path }),
    read: (input) => {
      if (!isRecord(input)) return describeNonObject(input);
      const path = input[key];
      return path === undefined ? { pattern: '*' } : { pattern: '*', path };
    },
  };
}

/** Limits a form to the calls whose input has this value under a key: one name for several tools. */
export function createCommandForm(form: ToolForm, key: string, value: string): ToolForm {
  const expected = `expected "${key}" to be "${value}"`;
  return {
    ...form,
    keys: [...form.keys, key],
    constants: { ...form.constants, [key]: value },
    show: (fields: Fields) => ({ [key]: value, ...form.show(fields) }),
    read: (input, base) =>
      isRecord(input) && input[key] !== value ? expected : form.read(input, base),
  };
}

/** The tools of an agent that has none of its own: each keeps its Claude form. */
export const NO_FORMS: Readonly<Record<ToolKind, null>> = {
  Read: null,
  Write: null,
  Edit: null,
  Bash: null,
  Grep: null,
  Glob: null,
  WebFetch: null,
  WebSearch: null,
  Agent: null,
  TodoWrite: null,
  AskUserQuestion: null,
  Skill: null,
  NotebookEdit: null,
  ReadMcpResourceTool: null,
};
