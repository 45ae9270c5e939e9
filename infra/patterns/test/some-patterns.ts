/** A file with patterns; /this/ is not one. */
export const literal: RegExp = /^a\/b$/u;
const width = 6;
export const half = width / 2 / 1;
export const made = /(x+)+y/g;
export const text = `no /pattern/ but ${width}`;
