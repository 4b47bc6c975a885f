export const isReady = true;
