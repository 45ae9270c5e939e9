import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { EgressRules } from './egress-rules.ts';
import { readOverContinue } from './read-over-continue.ts';
import { assertAllowed, type LookupAll, resolveChecked } from './resolve-target.ts';

export type PinnedConnectorOptions = {
  readonly rules: () => EgressRules;
  readonly lookup: LookupAll;
  readonly connectTimeoutMs: number;
};

/**
 * Creates a connector that opens sockets only to checked addresses. The lookup that checks is the one that the socket
 * uses, so a second DNS answer has no effect. A denied connection fails with EgressBlockedError.
 */
export function createPinnedConnector({ rules, lookup, connectTimeoutMs }: PinnedConnectorOptions) {
  const connect = buildConnector({
    allowH2: false,
    timeout: connectTimeoutMs,
    lookup: createPinnedLookup(rules, lookup),
  });
  const connectChecked: buildConnector.connector = (options, callback) => {
    // Node calls no lookup for an IP literal, so it is checked here. undici passes the error through.
    if (isIP(options.hostname) !== 0) assertAllowed(rules(), options.hostname, options.hostname);
    return connect(options, (...[error, socket]) => {
      if (error) {
        callback(error, null);
        return;
      }
      readOverContinue(socket);
      callback(null, socket);
    });
  };
  return connectChecked;
}

function createPinnedLookup(rules: () => EgressRules, lookup: LookupAll): LookupFunction {
  return (hostname, options, callback) => {
    resolveChecked(rules(), hostname, lookup).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all) callback(null, [...addresses]);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), []),
    );
  };
}
