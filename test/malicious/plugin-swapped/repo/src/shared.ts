export const shared = 'and brief';
