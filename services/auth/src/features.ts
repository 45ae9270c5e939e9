import { AppError } from '@recordbus/errors';
import type { Collection } from '@recordbus/schema';
import type { Settings, WayIn } from '@recordbus/settings';

/** The ways to sign in that a setting switches (auth §1.6), with their names in refusals. */
const features = {
  'auth.otp.enabled': 'signing in with a one-time code',
  'auth.mfa.enabled': 'setting up an authenticator app',
  'auth.passkeys.enabled': 'signing in with a passkey',
  'auth.anonymous.enabled': 'anonymous sign-in',
  'auth.impersonation.enabled': 'acting as a user',
} as const;

/** Throws 422 while a feature is switched off. */
export function requireFeature(settings: Pick<Settings, 'get'>, feature: keyof typeof features): void {
  if (!settings.get(feature)) throw disabled(`${features[feature]} is switched off`);
}

/** A collection's ways to sign in (auth §1.6), with their names in refusals. */
const ways: Readonly<Record<WayIn, string>> = {
  password: 'signing in with a password',
  otp: 'signing in with a one-time code',
  oauth2: 'signing in at a provider',
  passkey: 'signing in with a passkey',
  anonymous: 'anonymous sign-in',
};

/** Whether the collection takes a way to sign in, as far as `auth.methods.<collection>` says. */
export function takesWay(
  settings: Pick<Settings, 'getNamed'>,
  { name }: Pick<Collection, 'name'>,
  way: WayIn,
): boolean {
  const taken = settings.getNamed('auth.methods.<collection>', name);
  return taken.length === 0 || taken.includes(way);
}

/** Throws 422 for a way to sign in that the collection does not take. */
export function requireWay(
  settings: Pick<Settings, 'getNamed'>,
  collection: Pick<Collection, 'name'>,
  way: WayIn,
): void {
  if (!takesWay(settings, collection, way)) throw disabled(`${ways[way]} is switched off for this collection`);
}

const disabled = (message: string) => new AppError(422, 'feature_disabled', message);
