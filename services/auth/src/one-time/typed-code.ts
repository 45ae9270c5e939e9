/** The longest text that is read as a typed code, in characters. */
const maxTypedLength = 64;

/** Returns a typed code without the spaces and dashes that people and apps put between its digits (auth §5.3). */
export const typedCode = (typed: string): string => typed.slice(0, maxTypedLength).replace(/[\s\p{Pd}\u2212]/gu, '');
