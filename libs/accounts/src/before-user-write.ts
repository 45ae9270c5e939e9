import { z } from 'zod';

/** Fields of a user, as in the body of a record. */
export const userFields = z.record(z.string(), z.unknown()).readonly();

type UserFields = z.infer<typeof userFields>;

/**
 * Runs the hooks before a write of a user, in its transaction. Returns the fields that they leave, or undefined when the
 * user does not exist. Throws the refusal of a hook.
 */
export type BeforeUserWrite = (fields: UserFields) => Promise<UserFields | undefined>;
