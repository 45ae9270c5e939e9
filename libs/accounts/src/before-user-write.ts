import { z } from 'zod';

/** Fields of a user, as in the body of a record. */
export const userFields = z.record(z.string(), z.unknown()).readonly();

type UserFields = z.infer<typeof userFields>;

/**
 * What stands before a user is written, in the transaction of the write: gives the fields that it goes on with, or
 * undefined when there is no such user. Throws what refuses the write.
 */
export type BeforeUserWrite = (fields: UserFields) => Promise<UserFields | undefined>;
