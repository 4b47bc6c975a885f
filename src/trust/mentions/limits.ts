export const MAX_FINDINGS = 50;
export const MAX_WORDS = 2_000;
/** Longer words are not taken for names. */
export const MAX_NAME = 400;
