import { signUpClosed } from '@recordbus/accounts';
import type { Principal } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';
import type { AuthParts } from '../auth-parts.ts';

/** Throws 403 while sign-up is closed (auth §3.2). Admins pass. */
export function requireOpenSignUp(
  { settings }: Pick<AuthParts, 'settings'>,
  { name }: Pick<Collection, 'name'>,
  principal: Principal,
): void {
  if (principal.type !== 'admin' && settings.getNamed('auth.sign_up.<collection>', name) === 'closed')
    throw signUpClosed();
}
