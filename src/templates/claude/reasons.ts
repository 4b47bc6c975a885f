/** What examples tell, the same in every language. */
export const REASONS = {
  deletes: 'This command would delete far too much. Name the directory that is meant.',
  empty: 'The prompt is empty.',
  key: 'The prompt holds a private key. Take it out, and consider it known.',
  unfinished: 'Your last message speaks of a TODO: do it, or say why it can wait.',
} as const;
