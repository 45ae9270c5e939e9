import type { Query } from '@recordbus/database';
import type { QuerySchema } from '@recordbus/query';
import { quoteIdentifier, tableOf } from '@recordbus/schema';
import type { Principal } from '@recordbus/shared/context';
import { notFound } from '@recordbus/shared/errors';
import { z } from 'zod';
import { principalOfExtension } from '../call-scope.ts';

/** A caller as extensions name them; of users only who they are counts, the rest is read. */
export const actingCaller = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('guest') }),
    z.object({ type: z.literal('user'), collection: z.string(), id: z.string() }),
    z.object({ type: z.literal('admin'), id: z.string(), email: z.string().default('') }),
  ])
  .optional();
export type ActingCaller = z.output<typeof actingCaller>;

/** As whom an extension acts: itself when it names nobody. Throws 404 for a user who is not there. */
export async function principalOfActing(
  query: Query,
  schema: QuerySchema,
  extension: string,
  as: ActingCaller,
): Promise<Principal> {
  if (as === undefined) return principalOfExtension(extension);
  if (as.type === 'guest') return { type: 'guest', rejectedToken: false };
  if (as.type === 'admin') return as;
  const collection = schema.findCollection(as.collection);
  if (collection?.type !== 'auth') throw notFound('auth collection');
  const [user] = await query<{ email: string; anonymous: boolean }>({
    text: `select email, is_anonymous as anonymous from ${tableOf(collection)} where ${quoteIdentifier('id')} = $1`,
    values: [as.id],
  });
  if (!user) throw notFound('user');
  return { ...as, ...user, impersonatedBy: null };
}
