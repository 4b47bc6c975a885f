import { defineFlag, defineList, defineObject, type SpecTable, defineText } from './spec-table.ts';

const PATH = defineText('The path, relative to the root of the workspace or absolute');

const DIFF = `One or more blocks, each of this form:
------- SEARCH
[the exact lines to find]
=======
[the lines to put in their place]
+++++++ REPLACE
SEARCH must hold whole lines exactly as they are in the file, white space included, and enough of them to be found only where you mean. Give the blocks in the order of the file. A block with nothing after ======= takes the lines away.`;

/** The tools of Cline's editor extension. */
export const CLASSIC_SPECS: SpecTable = {
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
      description: 'Asks the person who gave the task, and waits for the answer.',
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
