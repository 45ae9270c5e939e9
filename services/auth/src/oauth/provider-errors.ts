import { AppError } from '@recordbus/errors';

/** 422 for a provider that is not enabled (oauth §1.2). */
export const providerNotEnabled = () =>
  new AppError(422, 'oauth_provider_not_enabled', 'this OAuth2 provider is not enabled');

/** 422 with a refusing provider's message (oauth §7). */
export const refusedByProvider = (words: string) =>
  new AppError(422, 'oauth_refused', 'the OAuth2 provider refused', { details: { provider: words } });

/** 502 for a missing or unreadable answer (oauth §7). */
export const providerFailed = () =>
  new AppError(502, 'oauth_provider_failed', 'the OAuth2 provider gave no valid answer');

/** 422 for settings that cannot work; the log says which (oauth §7). */
export const misconfigured = () =>
  new AppError(422, 'oauth_provider_misconfigured', 'this OAuth2 provider is misconfigured');
