export const words = 'be kind';
