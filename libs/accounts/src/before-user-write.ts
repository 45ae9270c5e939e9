import { z } from 'zod';

/** A user's fields, as in a record's body. */
export const userFields = z.record(z.string(), z.unknown()).readonly();

type UserFields = z.infer<typeof userFields>;

/**
 * Runs the hooks before a user is written, in its transaction. Returns the fields that they leave, or undefined when
 * the user does not exist. Throws a hook's refusal.
 */
export type BeforeUserWrite = (fields: UserFields) => Promise<UserFields | undefined>;
