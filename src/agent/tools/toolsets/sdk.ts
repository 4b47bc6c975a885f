import type { ToolSpec } from '../../models/model.ts';
import {
  defineInteger,
  defineList,
  defineObject,
  type SpecTable,
  defineText,
} from './spec-table.ts';

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
    'Changes or makes a file. With old_text, replaces that text, which must stand only once in the file. With insert_line, puts new_text before that line. With neither, writes the whole file. A file that exists must be read first.',
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
export const SDK_SPECS: SpecTable = {
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
      description: 'Asks the person who gave the task, and waits for the answer.',
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
