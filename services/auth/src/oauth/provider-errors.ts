import { AppError } from '@recordbus/shared/errors';

/** 422: nobody signs in by this name here. */
export const providerNotEnabled = () =>
  new AppError(422, 'oauth_provider_not_enabled', 'this OAuth2 provider is not enabled');

/** 422: the provider was asked and refused, in these words (interface §7). */
export const refusedByProvider = (words: string) =>
  new AppError(422, 'oauth_refused', 'the OAuth2 provider refused', { details: { provider: words } });

/** 502: the provider gave no answer, or none that can be read. */
export const providerFailed = () =>
  new AppError(502, 'oauth_provider_failed', 'the OAuth2 provider did not answer as it should');

/** 422: what an admin set can't work; the log says what it is. */
export const misconfigured = () =>
  new AppError(422, 'oauth_provider_misconfigured', 'this OAuth2 provider is not configured right');
