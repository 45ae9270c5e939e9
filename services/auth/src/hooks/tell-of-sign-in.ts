import { type SignInAttempt, signedInEvent } from '@recordbus/accounts';
import { putEvent } from '@recordbus/journal';
import type { RequestContext } from '@recordbus/shared/context';
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
  await putEvent(database.query, { event: signedInEvent, data: JSON.stringify(data), context });
  bus.notify('outbox');
}
