/** Longest address that is told apart from others that begin like it; real ones have at most 254 characters. */
const maxAddressLength = 320;

/**
 * What is counted together when an address is tried again and again: every spelling under which the database could find
 * the same user. Which letters are one without case is for its locale to say (İ is i in some, i with a dot in others),
 * so letters that differ by marks or form alone are one here: too much together does no harm, too little is a way round.
 */
export const foldAddress = (email: string): string =>
  email
    .trim()
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\p{M}\0]/gu, '')
    .replaceAll('ς', 'σ')
    .replaceAll('ı', 'i')
    .slice(0, maxAddressLength);
