import { z } from 'zod';

/** The option of the types whose values may be encrypted at rest (interface §2.2). */
export const encryptionOption = { encrypted: z.boolean('must be true or false').default(false) };

/** Two sealed texts never equal each other, so a field can't be both (contract §2). The first argument of `refine`. */
export const isComparable = ({
  encrypted,
  unique,
}: {
  readonly encrypted: boolean;
  readonly unique: boolean;
}): boolean => !(encrypted && unique);

/** The second argument of `refine`. */
export const notComparable = { path: ['unique'], message: 'is not for encrypted fields' };
