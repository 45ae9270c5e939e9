import type { Collection } from '@recordbus/schema';
import type { AuthParts } from '../auth-parts.ts';
import { chooseChallenge } from './pkce.ts';

export interface AuthorizeRequest {
  readonly provider: string;
  readonly redirectUri: string;
  readonly state: string;
  readonly usePkce: boolean;
  readonly codeChallenge: string | undefined;
}

/** The URL at a provider to which a browser is sent to sign in. Throws 422 for a provider that is not enabled. */
export async function authorize(
  { database, oauth, nowSec }: Pick<AuthParts, 'database' | 'oauth' | 'nowSec'>,
  collection: Collection,
  { provider: name, redirectUri, state, usePkce, codeChallenge: theirs }: AuthorizeRequest,
): Promise<string> {
  const provider = await oauth.get(name);
  const where = { collectionId: collection.id, provider, redirectUri, nowSec: nowSec() };
  const codeChallenge = await chooseChallenge(database.query, where, { state, usePkce, codeChallenge: theirs });
  return provider.authorizeUrl({ redirectUri, state, codeChallenge });
}
