import { canonicalAddress } from '@recordbus/schema';

/** Longer addresses with the same beginning are counted together. Real addresses have at most 254 characters. */
const maxAddressLength = 320;

/**
 * Folds an address for counting: all spellings under which the database could find the same user become one (auth
 * §4.3). The locale decides which letters are equal if case is ignored (İ is i in some, i with a dot in others), so
 * letters that differ only in marks or form are equal here. Folding too much is harmless; folding too little would let
 * a caller evade the count.
 */
export const foldAddress = (email: string): string =>
  canonicalAddress(email)
    // Normalization takes quadratic time for runs of combining marks.
    .slice(0, maxAddressLength)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\p{M}\0]/gu, '')
    .replaceAll('ς', 'σ')
    .replaceAll('ı', 'i')
    .slice(0, maxAddressLength);
