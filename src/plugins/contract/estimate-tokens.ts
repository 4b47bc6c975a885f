const CHARACTERS_PER_TOKEN = 4;

/** How many tokens so many characters take, roughly; a text counts by its length. */
export function estimateTokens(given: number | string): number {
  const characters = typeof given === 'string' ? given.length : given;
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}
