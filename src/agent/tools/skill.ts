import { truncateText } from '../../base/json.ts';
import { defineTool } from './define-tool.ts';
import { createFailedOutput } from './tool.ts';

const MAX_CHARACTERS = 60_000;

export const skillTool = defineTool({
  name: 'Skill',
  description:
    'Gives you what is written down about how to do one kind of work here. Use it before you begin, ' +
    'when one of the skills that are listed for you fits the task.',
  kind: 'plan',
  schema: {
    type: 'object',
    properties: {
      skill: { type: 'string', description: 'The name of the skill' },
      args: { type: 'string', description: 'What the skill shall be used for' },
    },
    required: ['skill'],
    additionalProperties: false,
  },
  parse: (fields) => ({
    skill: fields.requiredText('skill').trim().replace(/^\//, ''),
    args: fields.optionalText('args'),
  }),
  toHookInput: ({ skill, args }) => (args === null ? { skill } : { skill, args }),
  async run({ skill, args }, context) {
    const found = context.ports.useSkill?.(skill) ?? null;
    if (found === null) return createFailedOutput(`There is no skill named "${skill}" here.`);
    return {
      response: { success: true, commandName: skill },
      text: formatSkill(found.text, found.directory, args),
      success: true,
    };
  },
});

function formatSkill(text: string, directory: string, args: string | null): string {
  const start = truncateText(text, MAX_CHARACTERS);
  return [
    `Base directory for this skill: ${directory}`,
    start === text ? text : `${start}\n[The rest is left out; it is in ${directory}/SKILL.md]`,
    ...(args === null || args === '' ? [] : [`ARGUMENTS: ${args}`]),
  ].join('\n\n');
}
