import { createHash, timingSafeEqual } from 'node:crypto';
import { type AppError, notFound, unauthenticated } from '@recordbus/errors';
import type { Settings } from '@recordbus/settings';
import { scrapePath } from '../metrics/scrape-path.ts';
import type { Step } from './exchange.ts';

/**
 * Refuses a scrape that the settings do not admit (operation §2.1). It runs before `authenticate`, which removes
 * credentials from the request: the metrics token belongs to no account.
 */
export const admitScrape =
  (settings: Settings): Step =>
  (request, response, next) => {
    const { exchange } = response.locals;
    if (exchange.route?.paths[0] === scrapePath) {
      exchange.refusal = refusalOf(settings, request.headers.authorization);
    }
    next();
  };

function refusalOf(settings: Settings, authorization: string | undefined): AppError | undefined {
  if (!settings.get('metrics.enabled')) return notFound('route');
  // A service key's scope is checked as for any route.
  if (/^Bearer +rbk_/i.test(authorization ?? '')) return undefined;
  const token = settings.get('metrics.token');
  if (settings.isUnreadable('metrics.token')) return unauthenticated();
  if (token === '' || isBearer(authorization, token)) return undefined;
  return unauthenticated();
}

/** Compares in constant time: it depends neither on the token's length nor on how much of it matches. */
function isBearer(authorization: string | undefined, token: string): boolean {
  const given = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? '';
  return timingSafeEqual(digest(given), digest(token));
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
