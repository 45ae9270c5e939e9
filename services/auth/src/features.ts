import { AppError } from '@recordbus/errors';
import type { Settings } from '@recordbus/settings';

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
  if (!settings.get(feature)) throw new AppError(422, 'feature_disabled', `${features[feature]} is switched off`);
}
