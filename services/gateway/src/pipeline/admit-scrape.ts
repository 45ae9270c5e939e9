import { createHash, timingSafeEqual } from 'node:crypto';
import type { Settings } from '@recordbus/settings';
import { type AppError, notFound, unauthenticated } from '@recordbus/shared/errors';
import { metricsRoute } from '../routes/metrics-routes.ts';
import type { Step } from './exchange.ts';

/**
 * Refuses a scrape that the settings do not admit (interface §2.7, Metrics). It stands before `authenticate`, which
 * takes credentials off the request: the token of the metrics is no account's.
 */
export const admitScrape =
  (settings: Settings): Step =>
  (request, response, next) => {
    const { exchange } = response.locals;
    if (exchange.route?.paths[0] === metricsRoute) {
      exchange.refusal = refusalOf(settings, request.headers.authorization);
    }
    next();
  };

function refusalOf(settings: Settings, authorization: string | undefined): AppError | undefined {
  if (!settings.get('metrics.enabled')) return notFound('route');
  const token = settings.get('metrics.token');
  if (settings.isUnreadable('metrics.token')) return unauthenticated();
  if (token === '' || isBearer(authorization, token)) return undefined;
  return unauthenticated();
}

/** Takes the same time whatever part of the token is right, and whatever its length. */
function isBearer(authorization: string | undefined, token: string): boolean {
  const given = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? '';
  return timingSafeEqual(digest(given), digest(token));
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
