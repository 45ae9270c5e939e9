/** The longest password, in bytes: a hash reads all of it. */
export const maxPasswordBytes = 1024;

/**
 * Returns a password in NFC, the form that is stored (auth §2.1, RFC 8265 §4.2): keyboards send the same letters in
 * different forms. A longer text than any password stays as it is, because normalization takes quadratic time.
 */
export const composedPassword = (password: string): string =>
  password.length > maxPasswordBytes ? password : password.normalize('NFC');

/**
 * Returns the forms in which a password is compared: in NFC, then as sent, for hashes that another system or an earlier
 * version made from it. They are one form for ASCII and for what most keyboards send.
 */
export const passwordForms = (password: string): readonly string[] => [
  ...new Set([composedPassword(password), password]),
];
