import { splitUrl } from '@recordbus/http';
import { keysInUrls } from '@recordbus/process/mask-keys';
import type { ServiceKeys } from '../keys/service-keys.ts';
import type { Step } from './exchange.ts';
import { keyRefused } from './identify-key.ts';

/**
 * Refuses a request with a service key in its URL, since URLs end up in histories, in proxies' logs and at other sites
 * (keys §2.4).
 */
export const refuseKeyInUrl =
  ({ refused }: Pick<ServiceKeys, 'refused'>): Step =>
  (request, response, next) => {
    const { url, headers } = request;
    // In a path, a record id may begin like a key.
    if (keysInUrls.beginning.test(splitUrl(url).search) || keysInUrls.whole.test(url)) {
      const { exchange } = response.locals;
      const { clientAddress } = exchange.context;
      const id = keysInUrls.id.exec(url)?.[1];
      refused.note({
        reason: 'url',
        id: id && decodeURIComponent(id),
        clientAddress,
        userAgent: headers['user-agent'],
      });
      exchange.isKeyRefused = true;
      exchange.refusal = keyRefused('url');
    }
    next();
  };
