/** A case, or what of it cannot be seen yet: it shows only in a part of the agent that is not there. */
export interface Due {
  readonly group: string;
  /** A case, or `*` for all of the group. */
  readonly case: string;
  readonly reason: string;
}

/**
 * What is left. Where a decision is part of the case, a test here checks it; what the agent then does
 * with the decision is due.
 */
export const DUE_IN_HOST: readonly Due[] = [
];
