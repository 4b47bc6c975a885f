import { z } from 'zod';
import { anything, flag, text } from './fields.ts';

const OLDER = 'Older spelling of';

/** What a Cline hook prints on stdout; fields that are not here are ignored. */
export const CLINE_OUTPUT = z.looseObject({
  cancel: flag('True refuses what the event is about.').optional(),
  shouldContinue: flag(`${OLDER} the opposite of \`cancel\`: false refuses.`).optional(),
  should_continue: flag(`${OLDER} \`shouldContinue\`.`).optional(),
  context: text('Text for the model, as the SDK spells it.').optional(),
  contextModification: text('Text for the model, as classic hooks spell it.').optional(),
  context_modification: text(`${OLDER} \`contextModification\`.`).optional(),
  errorMessage: text(
    'Why it is refused; without `cancel`, text for the model if there is no other.',
  ).optional(),
  error_message: text(`${OLDER} \`errorMessage\`.`).optional(),
  review: flag('True asks the user before the call is made.').optional(),
  overrideInput: anything(
    'New input for the tool, in the shape in which the hook saw it or as the SDK shapes it.',
  ).optional(),
  override_input: anything(`${OLDER} \`overrideInput\`.`).optional(),
});
