// A hook of PreToolUse: notes may be read and written, and none is deleted.
import { readFileSync } from 'node:fs';

const { tool_name: tool, mcp_server: server } = JSON.parse(readFileSync(0, 'utf8'));
if (tool === 'mcp__notes__delete') {
  process.stderr.write(`${server.name} (${server.source}) keeps its notes`);
  process.exitCode = 2;
}
