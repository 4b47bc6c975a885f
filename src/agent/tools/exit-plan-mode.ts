import { defineTool } from './define-tool.ts';
import { createFailedOutput } from './tool.ts';

/** The approval is the purpose of this tool: whoever allows the call accepts the plan. */
export const exitPlanModeTool = defineTool<{ readonly plan: string }>({
  name: 'ExitPlanMode',
  description:
    'Shows your plan to the person and, if they agree, ends plan mode, so that you can carry it out. Call ' +
    'it in plan mode once the plan for a change is complete; not for research that changes nothing.',
  kind: 'ask',
  schema: {
    type: 'object',
    properties: { plan: { type: 'string', description: 'The plan, in markdown' } },
    required: ['plan'],
    additionalProperties: false,
  },
  read: (fields) => ({ plan: fields.requiredText('plan') }),
  toHookInput: ({ plan }) => ({ plan }),
  async run({ plan }, context) {
    const { leavePlanMode } = context.ports;
    if (leavePlanMode === undefined) {
      return createFailedOutput(
        'There is no plan mode to leave here. Give the plan as your answer.',
      );
    }
    leavePlanMode();
    return {
      response: { plan, filePath: null, isAgent: false },
      text: 'The person agrees with your plan. Begin to carry it out.',
      success: true,
    };
  },
});
