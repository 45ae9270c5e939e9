/** Returns a whole number from 0 up to, but not including, a limit. */
export const random = (limit: number): number => Math.floor(Math.random() * limit);
