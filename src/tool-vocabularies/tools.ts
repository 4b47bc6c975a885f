import path from 'node:path';
import { CLAUDE } from './claude.ts';
import { CLASSIC } from './classic.ts';
import type { ToolForm } from './tool-form.ts';
import type { Fields } from './fields.ts';
import { SDK } from './sdk.ts';
import {
  type ViewContext,
  isFixedPath,
  type McpTarget,
  type ToolKind,
  type Vocabulary,
  type VocabularyRules,
} from './vocabulary.ts';

/** The table of all vocabularies: a further one is a row here, and the compiler lists what else it needs. */
export const RULES: Readonly<Record<Vocabulary, VocabularyRules>> = {
  claude: CLAUDE,
  classic: CLASSIC,
  sdk: SDK,
};

/** What a tool is, whatever its names are. */
interface ToolFacts {
  /** Text fields without which a call says nothing; the first is what it is about. */
  readonly essential: readonly string[];
  readonly pathField?: string;
  /** What a missing path means. */
  readonly defaultPath?: string;
  readonly changesFile?: true;
}

/** One tool of the agent in every vocabulary; null where a vocabulary knows no such tool. */
export interface Tool extends ToolFacts {
  readonly forms: Readonly<Record<Vocabulary, ToolForm | null>>;
  /** Claude's form, which stands for those that are null. */
  readonly defaultForm: ToolForm;
  readonly formerNames: readonly string[];
}

/** One part of a call: what it does, in Claude's words, and the way back into the call's input. */
export interface CallPart {
  readonly tool: Tool;
  /** Paths in it are as the model wrote them. */
  readonly fields: Fields;
  /**
   * The call's whole input with this part saying `next`. What cannot be said there
   * must be left as it was: whoever calls it reads the result again and compares.
   */
  readonly put: (next: Fields) => unknown;
}

function createTool(kind: ToolKind, facts: ToolFacts): Tool {
  const forms = mapVocabularies((rules) => rules.forms[kind]);
  const formerNames = Object.values(RULES).flatMap((rules) => rules.formerNames[kind] ?? []);
  return { ...facts, forms, formerNames, defaultForm: CLAUDE.forms[kind] };
}

/** The tool of an MCP server: its fields are its arguments. */
export function createMcpTool(target: McpTarget): Tool {
  const forms = mapVocabularies((rules) => rules.createMcpForm(target));
  return { essential: [], forms, formerNames: [], defaultForm: forms.claude };
}

function mapVocabularies<Value>(
  convert: (rules: VocabularyRules) => Value,
): Readonly<Record<Vocabulary, Value>> {
  return { claude: convert(CLAUDE), classic: convert(CLASSIC), sdk: convert(SDK) };
}

/** Every tool that has forms. */
export const TOOLS: Readonly<Record<ToolKind, Tool>> = {
  Read: createTool('Read', { essential: ['file_path'], pathField: 'file_path' }),
  Write: createTool('Write', {
    essential: ['file_path', 'content'],
    pathField: 'file_path',
    changesFile: true,
  }),
  Edit: createTool('Edit', {
    essential: ['file_path', 'old_string', 'new_string'],
    pathField: 'file_path',
    changesFile: true,
  }),
  Bash: createTool('Bash', { essential: ['command'] }),
  Grep: createTool('Grep', { essential: ['pattern'], pathField: 'path', defaultPath: '.' }),
  Glob: createTool('Glob', { essential: ['pattern'], pathField: 'path', defaultPath: '.' }),
  WebFetch: createTool('WebFetch', { essential: ['url'] }),
  WebSearch: createTool('WebSearch', { essential: ['query'] }),
  Agent: createTool('Agent', { essential: ['prompt'] }),
  TodoWrite: createTool('TodoWrite', { essential: [] }),
  AskUserQuestion: createTool('AskUserQuestion', { essential: ['question'] }),
  Skill: createTool('Skill', { essential: ['skill'] }),
  NotebookEdit: createTool('NotebookEdit', {
    essential: ['notebook_path', 'new_source'],
    pathField: 'notebook_path',
  }),
};

/** The form that a vocabulary's hooks see. */
export function getForm(tool: Tool, vocabulary: Vocabulary): ToolForm {
  return tool.forms[vocabulary] ?? tool.defaultForm;
}

/** From one vocabulary's words into another's. */
export interface Translation {
  readonly from: Vocabulary;
  readonly into: Vocabulary;
}

/** A path in the words of another vocabulary: absolute, relative to the root, or as it was written. */
export function translatePath(
  file: string,
  { from, into }: Translation,
  context: ViewContext,
): string {
  if (isFixedPath(file)) return file;
  const ownBase = RULES[from].getPathBase(context);
  const base = RULES[into].getPathBase(context);
  return RULES[into].writePath({
    written: file,
    absolute: () => path.resolve(ownBase, file),
    base,
    isSameBase: base === ownBase,
  });
}
