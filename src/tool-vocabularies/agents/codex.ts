import { isRecord } from '../../base/json.ts';
import { type Fields, findText, splitLines } from '../fields.ts';
import { formatHunk, parsePatch, type PatchSection } from '../patch.ts';
import { createRenamedForm, describeNonObject, type ToolForm } from '../tool-form.ts';
import { createAgentRules, NO_FORMS } from './agent-rules.ts';

const APPLY_PATCH = 'apply_patch';
const PATCH_KEY = 'command';

/** The tools of Codex CLI as its hooks see them: the shell is named `Bash`, every change is a patch. */
export const CODEX = createAgentRules({
  forms: {
    ...NO_FORMS,
    Write: createPatchForm(formatAddition, readAddition),
    Edit: createPatchForm(formatUpdate, readUpdate),
    Bash: createRenamedForm('Bash', {
      command: 'command',
      description: 'description',
      timeout: 'timeout',
    }),
    Agent: createRenamedForm('spawn_agent', { prompt: 'message', subagent_type: 'agent_type' }),
    WebSearch: createRenamedForm('web_search', { query: 'query' }),
  },
  otherForms: {
    Read: [createRenamedForm('view_image', { file_path: 'path' })],
    Agent: [createRenamedForm('spawn_agent', { prompt: 'prompt', subagent_type: 'agent_type' })],
  },
  pluralNames: { [APPLY_PATCH]: 'patch' },
  pathKeys: { file_path: 'path' },
});

type FormatSection = (fields: Fields) => readonly string[];
type ReadSection = (section: PatchSection) => Fields | string;

function createPatchForm(format: FormatSection, readSection: ReadSection): ToolForm {
  return {
    name: APPLY_PATCH,
    keys: [PATCH_KEY],
    constants: {},
    list: null,
    show: (fields) => ({
      [PATCH_KEY]: ['*** Begin Patch', ...format(fields), '*** End Patch'].join('\n'),
    }),
    read: (input) => {
      if (!isRecord(input)) return describeNonObject(input);
      const sections = parsePatch(findText(input, [PATCH_KEY]) ?? '');
      const [only] = sections;
      if (only === undefined || sections.length > 1) {
        return `expected one file in the patch, found ${sections.length}`;
      }
      return readSection(only);
    },
  };
}

function formatAddition(fields: Fields): readonly string[] {
  const content = splitLines(findText(fields, ['content']) ?? '');
  return [`*** Add File: ${findPath(fields)}`, ...content.map((line) => `+${line}`)];
}

function formatUpdate(fields: Fields): readonly string[] {
  const [before, after] = ['old_string', 'new_string'].map((key) =>
    splitLines(findText(fields, [key]) ?? ''),
  );
  return [`*** Update File: ${findPath(fields)}`, '@@', ...formatHunk(before ?? [], after ?? [])];
}

function findPath(fields: Fields): string {
  return findText(fields, ['file_path']) ?? '';
}

function readAddition({ kind, path, added }: PatchSection): Fields | string {
  if (kind !== 'Add') return `expected "*** Add File", found "*** ${kind} File"`;
  return { file_path: path, content: added.join('\n') };
}

function readUpdate({ kind, path, hunks, moveTo }: PatchSection): Fields | string {
  const [hunk] = hunks;
  if (kind !== 'Update' || moveTo !== null || hunk === undefined || hunks.length > 1) {
    return 'expected "*** Update File" with one hunk';
  }
  return {
    file_path: path,
    old_string: hunk.old.join('\n'),
    new_string: hunk.next.join('\n'),
    replace_all: false,
  };
}
