import { listToolViews, type Vocabulary } from '../../tool-vocabularies/tool-views.ts';
import { TOOLSETS, type Toolset } from '../../tool-vocabularies/vocabulary.ts';
import type { ToolSpec } from '../models/model.ts';
import type { Tool } from './tool.ts';

/** The vocabulary in which the model sees its tools. Calls are accepted in all of them. */
export { TOOLSETS, type Toolset };

export function isToolset(name: unknown): name is Toolset {
  return TOOLSETS.some((toolset) => toolset === name);
}

// Functions, because the tables are declared below.
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

/** Tool specs of one vocabulary by Claude Code name; several tools may share a spec. */
type SpecTable = Readonly<Record<string, readonly ToolSpec[]>>;

type Schema = Readonly<Record<string, unknown>>;

/** An object schema; a key that ends in `?` is optional. */
function defineObject(properties: Readonly<Record<string, Schema>>): Schema {
  const entries = Object.entries(properties);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([key, schema]) => [key.replace('?', ''), schema])),
    required: entries.map(([key]) => key).filter((key) => !key.endsWith('?')),
    additionalProperties: false,
  };
}

function defineText(description: string): Schema {
  return { type: 'string', description };
}

function defineFlag(description: string): Schema {
  return { type: 'boolean', description };
}

function defineInteger(description: string): Schema {
  return { type: 'integer', minimum: 1, description };
}

function defineList(items: Schema, description: string): Schema {
  return { type: 'array', minItems: 1, items, description };
}

const PATH = defineText('The path, relative to the root of the workspace or absolute');

const DIFF = `One or more blocks, each of this form:
------- SEARCH
[the exact lines to find]
=======
[the lines to put in their place]
+++++++ REPLACE
SEARCH must hold whole lines exactly as they are in the file, white space included, and enough of them to be found only where you mean. Give the blocks in the order of the file. A block with nothing after ======= takes the lines away.`;

/** The tools of Cline's editor extension. */
const CLASSIC_SPECS: SpecTable = {
  Read: [
    {
      name: 'read_file',
      description:
        'Reads a file and shows it with line numbers. A file must be read before it is changed.',
      schema: defineObject({ path: PATH }),
    },
  ],
  Write: [
    {
      name: 'write_to_file',
      description:
        'Writes a whole file, and makes it and the directories above it when they are missing. To change a part of a file use replace_in_file.',
      schema: defineObject({ path: PATH, content: defineText('All that the file shall hold') }),
    },
  ],
  Edit: [
    {
      name: 'replace_in_file',
      description:
        'Changes parts of a file by SEARCH/REPLACE blocks. All of them are made, or none.',
      schema: defineObject({ path: PATH, diff: defineText(DIFF) }),
    },
  ],
  Bash: [
    {
      name: 'execute_command',
      description: 'Runs a command in a shell and returns what it prints.',
      schema: defineObject({
        command: defineText('The command line'),
        'requires_approval?': defineFlag(
          'Whether it may do harm; who must agree is decided elsewhere',
        ),
      }),
    },
  ],
  Grep: [
    {
      name: 'search_files',
      description: 'Searches the files below a directory and shows the lines that match.',
      schema: defineObject({
        path: defineText('The directory to search'),
        regex: defineText('A regular expression, as ripgrep reads it'),
        'file_pattern?': defineText('Only files that fit, such as *.ts'),
      }),
    },
  ],
  Glob: [
    {
      name: 'list_files',
      description: 'Lists the files in a directory.',
      schema: defineObject({
        path: defineText('The directory'),
        'recursive?': defineFlag('Whether to list what is below it, too'),
      }),
    },
  ],
  WebFetch: [
    {
      name: 'web_fetch',
      description: 'Fetches a page from the web as readable text.',
      schema: defineObject({
        url: defineText('The whole address'),
        prompt: defineText('What to find out from the page'),
      }),
    },
  ],
  Agent: [
    {
      name: 'new_task',
      description:
        'Starts a second agent on a task of its own and returns its last answer. It knows nothing of this conversation.',
      schema: defineObject({
        context: defineText('The whole task, with everything that is needed for it'),
      }),
    },
  ],
  TodoWrite: [
    {
      name: 'focus_chain',
      description: 'Writes down the steps of the work, all of them each time.',
      schema: defineObject({
        task_progress: defineText(
          'A checklist in markdown: "- [x] done" and "- [ ] to do", one step a line',
        ),
      }),
    },
  ],
  AskUserQuestion: [
    {
      name: 'ask_followup_question',
      description: 'Asks the user who gave the task, and waits for the answer.',
      schema: defineObject({
        question: defineText('The whole question'),
        'options?': defineList(defineText('An answer'), 'Two to five answers to choose from'),
      }),
    },
  ],
  Skill: [
    {
      name: 'use_skill',
      description: 'Gives you what is written down about how to do one kind of work here.',
      schema: defineObject({ skill_name: defineText('The name of the skill') }),
    },
  ],
};

const PATCH = `A patch of this form:
*** Begin Patch
*** Update File: src/a.ts
@@ function run() {
 a line that stays
-a line that goes
+a line that comes
*** Add File: src/b.ts
+each line of the new file
*** Delete File: src/c.ts
*** End Patch
Each @@ begins a place in the file; the text after it, which may be absent, is a line before that place. Give about three lines that stay before and after each change. "*** Move to: path" after "*** Update File:" moves the file.`;

const EDITOR: ToolSpec = {
  name: 'editor',
  description:
    'Changes or makes a file. With old_text, replaces that text, which must stand only once in the file. With insert_line, puts new_text before that line. With neither, makes a new file. Texts have at most 6000 characters: make several calls for more.',
  schema: defineObject({
    path: defineText('The path, relative to the current directory or absolute'),
    new_text: defineText('The text to put there'),
    'old_text?': defineText('The exact text to replace'),
    'insert_line?': defineInteger('The number of the line before which to insert'),
  }),
};

const APPLY_PATCH: ToolSpec = {
  name: 'apply_patch',
  description:
    'Changes several places or files at once; all changes are made, or none. Files that are changed or deleted must be read first.',
  schema: defineObject({ input: defineText(PATCH) }),
};

/** The tools of Cline's SDK. */
const SDK_SPECS: SpecTable = {
  Read: [
    {
      name: 'read_files',
      description:
        'Reads one or more files and shows them with line numbers. A file must be read before it is changed.',
      schema: defineObject({
        files: defineList(
          defineObject({
            path: defineText('The path, relative to the current directory or absolute'),
            'start_line?': defineInteger('The first line to show'),
            'end_line?': defineInteger('The last line to show'),
          }),
          'The files',
        ),
      }),
    },
  ],
  Write: [EDITOR],
  Edit: [EDITOR, APPLY_PATCH],
  Bash: [
    {
      name: 'run_commands',
      description: 'Runs commands in a shell, one after the other, and returns what they print.',
      schema: defineObject({ commands: defineList(defineText('A command line'), 'The commands') }),
    },
  ],
  Grep: [
    {
      name: 'search_codebase',
      description: 'Searches the files of the current directory and shows the lines that match.',
      schema: defineObject({
        queries: defineList(
          defineText('A regular expression, as ripgrep reads it'),
          'What to search for',
        ),
      }),
    },
  ],
  WebFetch: [
    {
      name: 'fetch_web_content',
      description: 'Fetches pages from the web as readable text.',
      schema: defineObject({
        requests: defineList(
          defineObject({
            url: defineText('The whole address'),
            prompt: defineText('What to find out from the page'),
          }),
          'The pages',
        ),
      }),
    },
  ],
  Agent: [
    {
      name: 'spawn_agent',
      description:
        'Starts a second agent on a task of its own and returns its last answer. It knows nothing of this conversation.',
      schema: defineObject({
        task: defineText('The whole task, with everything that is needed for it'),
      }),
    },
  ],
  AskUserQuestion: [
    {
      name: 'ask_question',
      description: 'Asks the user who gave the task, and waits for the answer.',
      schema: defineObject({
        question: defineText('The whole question'),
        options: {
          ...defineList(defineText('An answer'), 'Answers to choose from'),
          minItems: 2,
          maxItems: 5,
        },
      }),
    },
  ],
  Skill: [
    {
      name: 'skills',
      description: 'Gives you what is written down about how to do one kind of work here.',
      schema: defineObject({
        skill: defineText('The name of the skill'),
        'args?': defineText('What the skill shall be used for'),
      }),
    },
  ],
};
