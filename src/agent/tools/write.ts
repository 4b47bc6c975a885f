import { defineTool } from './define-tool.ts';
import { openForChange, saveText, type FileToChange } from './files/changeable-file.ts';
import { diffTexts } from './files/structured-patch.ts';
import { NEW_FILE_FORMAT, withPlainLineEnds } from './files/text-file.ts';
import { readPath, type ToolPath } from './files/tool-path.ts';
import { failedOutput, type ToolOutput } from './tool.ts';
import type { Workbench } from './workbench.ts';

interface WriteInput {
  readonly file: ToolPath;
  readonly content: string;
}

export const writeTool = defineTool<WriteInput>({
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
  read: (given, bench) => ({
    file: readPath(given, 'file_path', bench),
    content: given.text('content'),
  }),
  check({ file }, bench) {
    const old = openSeen(file, bench);
    return typeof old === 'string' ? old : null;
  },
  toHookInput: ({ file, content }) => ({ file_path: file.absolute, content }),
  async run({ file, content }, bench) {
    const old = openSeen(file, bench);
    if (typeof old === 'string') return failedOutput(old);
    const format = old?.content.format ?? NEW_FILE_FORMAT;
    const failure = saveText(file.absolute, { text: content, format }, bench);
    if (failure !== null) return failedOutput(failure);
    return old === null ? created(file, content) : updated(file, content, old);
  },
});

function openSeen({ absolute }: ToolPath, bench: Workbench): FileToChange | null | string {
  const old = openForChange(absolute, bench);
  return old === null || typeof old === 'string' ? old : (old.unseen ?? old);
}

function created({ written }: ToolPath, content: string): ToolOutput {
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

async function updated(
  { written }: ToolPath,
  content: string,
  old: FileToChange,
): Promise<ToolOutput> {
  const originalFile = withPlainLineEnds(old.content.text);
  return {
    response: {
      type: 'update',
      filePath: written,
      content,
      structuredPatch: await diffTexts(originalFile, withPlainLineEnds(content)),
      originalFile,
      userModified: false,
    },
    text: `The file ${written} has been updated successfully.`,
    success: true,
  };
}
