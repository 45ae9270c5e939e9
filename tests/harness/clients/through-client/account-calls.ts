import { type ClientCall, hasOnly, isObject, type Wanted } from './client-call.ts';
import { ownAccountCallOf } from './own-account-calls.ts';
import { signInCallOf } from './sign-in-calls.ts';

const path = /^\/api\/v1\/auth\/([A-Za-z]\w*)\/([\w/-]+)$/;

/** Returns the `auth(…)` call that matches a request to an account. */
export function accountCallOf(wanted: Wanted): ClientCall | undefined {
  const { method, resource, query, headers, hasToken, body = {} } = wanted;
  const [, collection = '', action = ''] = path.exec(resource) ?? [];
  if (collection === '' || !hasOnly(headers, ['x-request-id']) || !isObject(body)) return undefined;
  const request = { collection, name: `${method} ${action}`, body, query, hasToken };
  if (!hasOnly(query, action === 'oauth2/authorize' ? ['provider', 'redirectUri', 'state', 'use_pkce'] : []))
    return undefined;
  return signInCallOf(request) ?? (hasToken ? ownAccountCallOf(request) : undefined);
}
