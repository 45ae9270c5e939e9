import type { Query } from '@recordbus/database';
import { notFound } from '@recordbus/errors';
import type { QuerySchema } from '@recordbus/query';
import type { Principal } from '@recordbus/request/context';
import { quoteIdentifier, tableOf } from '@recordbus/schema';
import { z } from 'zod';
import { isRecordId } from '../../record/record-id.ts';
import { principalOfExtension } from '../call-scope.ts';

/** A caller that an extension names. For a user only collection and id count; the rest is read. */
export const actingCaller = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('guest') }),
    z.object({ type: z.literal('user'), collection: z.string(), id: z.string() }),
    z.object({ type: z.literal('admin'), id: z.string(), email: z.string().default('') }),
    z.object({ type: z.literal('service'), id: z.string(), scopes: z.array(z.string()) }),
  ])
  .optional();
export type ActingCaller = z.output<typeof actingCaller>;

/** Returns the principal that an extension acts as: itself by default. Throws 404 for an unknown user. */
export async function principalOfActing(
  query: Query,
  schema: QuerySchema,
  extension: string,
  as: ActingCaller,
): Promise<Principal> {
  if (as === undefined) return principalOfExtension(extension);
  if (as.type === 'guest') return { type: 'guest', rejectedToken: false };
  if (as.type === 'admin' || as.type === 'service') return as;
  const collection = schema.findCollection(as.collection);
  if (collection?.type !== 'auth') throw notFound('auth collection');
  if (!isRecordId(as.id)) throw notFound('user');
  const [user] = await query<{ email: string; anonymous: boolean; verified: boolean }>({
    text: `select email, is_anonymous as anonymous, coalesce(verified, false) as verified from ${tableOf(collection)} where ${quoteIdentifier('id')} = $1`,
    values: [as.id],
  });
  if (!user) throw notFound('user');
  return { ...as, ...user, impersonatedBy: null };
}
