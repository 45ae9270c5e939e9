import { envelopeSql } from '@recordbus/bus';
import { nowSec, originValues } from '@recordbus/journal';
import type { RequestContext } from '@recordbus/shared/context';
import { type SignInAttempt, signedInEvent } from '@recordbus/shared/sign-in-hooks';
import type { AuthParts } from '../auth-parts.ts';

/** Puts the event of a sign-in into the outbox, before it is answered: who has the answer has been told of. */
export async function tellOfSignIn(
  { database, bus }: Pick<AuthParts, 'database' | 'bus'>,
  { flow, collection, email, userAgent, userId }: SignInAttempt & { readonly userId: string },
  context: RequestContext,
): Promise<void> {
  const data = {
    flow,
    collection,
    user_id: userId,
    email: email ?? null,
    client_address: context.clientAddress,
    user_agent: userAgent ?? null,
  };
  await database.query({
    name: 'auth.signed-in',
    text: `insert into system.outbox (event_id, event, body, traceparent)
      select e.id, $5::text, ${envelopeSql({
        id: 'e.id',
        event: '$5::text',
        timestamp: nowSec,
        data: '$6::json',
        actorType: '$1::text',
        actorId: '$2::text',
        requestId: '$3::text',
      })}, $4::text
      from (select gen_random_uuid() as id) e`,
    values: [...originValues(context), signedInEvent, JSON.stringify(data)],
  });
  bus.notify('outbox');
}
