import { type SignInAttempt, signedInEvent } from '@recordbus/accounts';
import { putEvent } from '@recordbus/journal';
import type { RequestContext } from '@recordbus/request/context';
import type { AuthParts } from '../auth-parts.ts';

/** Adds a sign-in's event to the outbox before the answer is sent, so every answered sign-in has its event. */
export async function publishSignIn(
  { database, bus }: Pick<AuthParts, 'database' | 'bus'>,
  { flow, collection, email, identity, userAgent, userId }: SignInAttempt & { readonly userId: string },
  context: RequestContext,
): Promise<void> {
  const data = {
    flow,
    collection,
    user_id: userId,
    email: email ?? null,
    identity: identity ?? null,
    client_address: context.clientAddress,
    user_agent: userAgent ?? null,
  };
  await putEvent(database.query, { event: signedInEvent, data: JSON.stringify(data), context });
  bus.notify('outbox');
}
