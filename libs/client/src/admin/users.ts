import type { Page, PageOptions } from '../records/options.ts';
import type { CallOptions, Transport } from '../transport.ts';
import { apiPath } from '../url.ts';
import type { UserAccount, UserDetails } from './account-types.ts';
import type { Requests } from './requests.ts';

type UserFilter = PageOptions & { readonly search?: string; readonly blocked?: boolean };

/** Manages an auth collection's users (admins §8). Each change returns the changed user. */
export function createUsers(transport: Transport, { get, page, post }: Requests) {
  const at = (collection: string, ...more: string[]): string[] => ['admin', 'users', collection, ...more];
  const remove = (segments: readonly string[], options?: CallOptions): Promise<UserDetails> =>
    transport.data({ method: 'DELETE', path: apiPath(...segments), ...options });
  return {
    list: (collection: string, filter?: UserFilter, options?: CallOptions) =>
      page<Page<UserAccount>>(at(collection), filter, options),
    get: (collection: string, id: string, options?: CallOptions) => get<UserDetails>(at(collection, id), options),
    endSession: (collection: string, id: string, session: string, options?: CallOptions) =>
      remove(at(collection, id, 'sessions', session), options),
    endSessions: (collection: string, id: string, options?: CallOptions) =>
      remove(at(collection, id, 'sessions'), options),
    resetSecondFactor: (collection: string, id: string, options?: CallOptions) =>
      remove(at(collection, id, 'second-factor'), options),
    /** Links a user to an identity that another system has proved. */
    link: (
      collection: string,
      id: string,
      provider: string,
      subject: string,
      options?: CallOptions,
    ): Promise<UserDetails> =>
      transport.data({
        method: 'PUT',
        path: apiPath(...at(collection, id, 'links', provider)),
        values: { subject },
        ...options,
      }),
    unlink: (collection: string, id: string, provider: string, options?: CallOptions) =>
      remove(at(collection, id, 'links', provider), options),
    removePasskey: (collection: string, id: string, passkey: string, options?: CallOptions) =>
      remove(at(collection, id, 'passkeys', passkey), options),
    /** Mails a user a link for a new password. */
    mailPasswordReset: (collection: string, id: string, options?: CallOptions) =>
      post<UserDetails>(at(collection, id, 'password-reset'), {}, options),
    /** Ends a user's tokens and refuses every sign-in. */
    block: (collection: string, id: string, options?: CallOptions) =>
      post<UserDetails>(at(collection, id, 'block'), {}, options),
    unblock: (collection: string, id: string, options?: CallOptions) =>
      post<UserDetails>(at(collection, id, 'unblock'), {}, options),
  };
}
