import { HooklineError } from '../../../base/errors.ts';
import { isStandardSchema, type StandardIssue } from '../../contract/input-schema.ts';
import { type AgentTool, checkingSchema } from '../../contract/tool.ts';

/** The input as the author's own schema makes it; without one it stays as it is. */
export async function parsedInput(tool: AgentTool, input: unknown): Promise<unknown> {
  const schema = checkingSchema(tool);
  if (!isStandardSchema(schema)) return input;
  const result = await schema['~standard'].validate(input);
  if (result.issues === undefined) return result.value;
  const said = result.issues.map(({ message }) => message).join('; ');
  throw new HooklineError('PLUGIN_INVALID', {
    message: `the input of ${tool.name} does not fit its schema: ${said}`,
  });
}

/** What is wrong with an input; of each issue only what a person can read. */
export async function issuesWith(tool: AgentTool, input: unknown): Promise<StandardIssue[]> {
  const schema = checkingSchema(tool);
  if (!isStandardSchema(schema)) return [];
  const { issues = [] } = await schema['~standard'].validate(input);
  return issues.map(({ message, path = [] }) => ({
    message,
    path: path.map((step) => String(typeof step === 'object' ? step.key : step)),
  }));
}
