import { splitUrl } from '@recordbus/shared/http';
import type { ServiceKeys } from '../keys/service-keys.ts';
import type { Step } from './exchange.ts';
import { keyRefused } from './identify-key.ts';

/** What a key begins with, in a query; and a whole key in a path, where ids of records may begin like one. */
const inQuery = /rbk(?:_|%5f)/i;
const inPath = /rbk(?:_|%5f)[a-z0-9]{16}(?:_|%5f)/i;
const idOfKey = /rbk(?:_|%5f)([a-z0-9]{16})(?![a-z0-9])/i;

/**
 * Refuses a request with a service key in its URL: URLs end up in histories, in logs of proxies and with other sites
 * (keys §2.4).
 */
export const refuseKeyInUrl =
  ({ refused }: Pick<ServiceKeys, 'refused'>): Step =>
  (request, response, next) => {
    const { url, headers } = request;
    if (inQuery.test(splitUrl(url).search) || inPath.test(url)) {
      const { exchange } = response.locals;
      const { clientAddress } = exchange.context;
      refused.note({ reason: 'url', id: idOfKey.exec(url)?.[1], clientAddress, userAgent: headers['user-agent'] });
      exchange.isKeyRefused = true;
      exchange.refusal = keyRefused('url');
    }
    next();
  };
