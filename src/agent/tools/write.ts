import { defineTool } from './define-tool.ts';
import { openForEdit, saveText, type EditableFile } from './files/editable-file.ts';
import { diffTexts } from './files/structured-patch.ts';
import { NEW_FILE_FORMAT, normalizeLineEnds } from './files/text-file.ts';
import { parsePathField, type ToolPath } from './files/read-path.ts';
import { createFailedOutput, type ToolOutput } from './tool.ts';
import type { ToolContext } from './tool-context.ts';

export const writeTool = defineTool({
  name: 'Write',
  description: `Writes a file, and replaces the one that is there.

- A file that exists must have been read with Read first, and must not have changed since.
- Directories above it are made when they are missing.
- To change a part of a file use Edit. Make new files only when they are needed.`,
  schema: {
    type: 'object',
    properties: {
      file_path: { type: 'string', description: 'The file to write' },
      content: { type: 'string', description: 'All that the file shall hold' },
    },
    required: ['file_path', 'content'],
    additionalProperties: false,
  },
  kind: 'edit',
  parse: (fields, context) => ({
    file: parsePathField(fields, 'file_path', context),
    content: fields.text('content'),
  }),
  check({ file }, context) {
    const old = openReadFile(file, context);
    return typeof old === 'string' ? old : null;
  },
  toHookInput: ({ file, content }) => ({ file_path: file.absolute, content }),
  async run({ file, content }, context) {
    const old = openReadFile(file, context);
    if (typeof old === 'string') return createFailedOutput(old);
    const format = old?.content.format ?? NEW_FILE_FORMAT;
    const failure = saveText(file.absolute, { text: content, format }, context);
    if (failure !== null) return createFailedOutput(failure);
    return old === null
      ? createNewFileOutput(file, content)
      : createUpdatedOutput(file, content, old);
  },
});

function openReadFile({ absolute }: ToolPath, context: ToolContext): EditableFile | null | string {
  const old = openForEdit(absolute, context);
  return old === null || typeof old === 'string' ? old : (old.problem ?? old);
}

function createNewFileOutput({ written }: ToolPath, content: string): ToolOutput {
  return {
    response: {
      type: 'create',
      filePath: written,
      content,
      structuredPatch: [],
      originalFile: null,
      userModified: false,
    },
    text: `File created successfully at: ${written}`,
    success: true,
  };
}

async function createUpdatedOutput(
  { written }: ToolPath,
  content: string,
  old: EditableFile,
): Promise<ToolOutput> {
  const originalFile = normalizeLineEnds(old.content.text);
  return {
    response: {
      type: 'update',
      filePath: written,
      content,
      structuredPatch: await diffTexts(originalFile, normalizeLineEnds(content)),
      originalFile,
      userModified: false,
    },
    text: `The file ${written} has been updated successfully.`,
    success: true,
  };
}
