import { z } from 'zod';

/** The option for types whose values may be encrypted at rest (fields §4.1). */
export const encryptionOption = { encrypted: z.boolean('must be true or false').default(false) };

/** Two ciphertexts never equal each other, so no field is encrypted and unique. The first argument to `refine`. */
export const isComparable = ({
  encrypted,
  unique,
}: {
  readonly encrypted: boolean;
  readonly unique: boolean;
}): boolean => !(encrypted && unique);

/** The second argument to `refine`. */
export const notComparable = { path: ['unique'], message: 'is not for encrypted fields' };
