// Refuses to write a file that looks like it keeps secrets.
import { readFileSync } from 'node:fs';

const { tool_input: input } = JSON.parse(readFileSync(0, 'utf8'));
if (/\.env$/.test(input.file_path)) {
  process.stderr.write('secrets are not written by agents');
  process.exit(2);
}
