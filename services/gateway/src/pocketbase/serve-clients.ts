import type { IncomingMessage, RequestListener } from 'node:http';
import type { Bus } from '@recordbus/bus';
import type { Database } from '@recordbus/database';
import { createIdentify, type MovedTokens } from '@recordbus/moved-sessions';
import type { Logger } from '@recordbus/process/logging';
import { identityFieldsOf } from '@recordbus/schema';
import type { Accounts } from '@recordbus/sessions';
import { type Settings, trustedProxiesOf } from '@recordbus/settings';
import { createTokenExtender, createTokenVerifier } from '@recordbus/tokens';
import { createFindClient } from '../client-address/find-client.ts';
import { followSettings } from '../follow-settings.ts';
import { createAnswerClient } from './answer-client.ts';
import { createCallAs } from './call-pipeline.ts';
import { type CatalogSource, createFindCatalog } from './catalog-copy.ts';
import { createClientStreams } from './client-streams.ts';
import { findClientPath } from './find-client-path.ts';
import { connectGateways, newGatewayName } from './other-gateways.ts';
import { createSubmitTopics } from './realtime.ts';
import { createReplay } from './replay.ts';
import { createReturnFromProvider } from './return-from-provider.ts';

interface ServeClientsDeps {
  readonly log: Logger;
  /** The raw bytes of the secret that signs tokens. */
  readonly secret: Uint8Array;
  readonly settings: Settings;
  readonly accounts: Pick<Accounts, 'findPrincipal'>;
  readonly movedTokens: MovedTokens;
  readonly trustedProxies: readonly string[];
  readonly bus: Pick<Bus, 'ask' | 'answerAt'>;
  readonly collections: CatalogSource;
  /** Remembers streams over gateways. */
  readonly database: Pick<Database, 'query'>;
}

/** PocketBase's routes. */
export interface ClientRoutes {
  /** Answers PocketBase's clients, and passes every other request to the pipeline. */
  readonly app: RequestListener;
  /** Ends the streams. */
  drain(): void;
  stop(): Promise<void>;
}

/**
 * Adds PocketBase's routes to the pipeline. While the setting is off, a request costs one comparison and has no such
 * route.
 */
export function serveClients(pipeline: RequestListener, deps: ServeClientsDeps): ClientRoutes {
  const { log, secret, settings, accounts, movedTokens, trustedProxies, bus, collections, database } = deps;
  const hosts = followSettings(settings, ['pocketbase.enabled', 'pocketbase.hosts'], () =>
    settings.get('pocketbase.enabled') ? new Set(settings.get('pocketbase.hosts')) : undefined,
  );
  const findClient = followSettings(settings, ['security.trusted_proxies'], () =>
    createFindClient(trustedProxiesOf(settings, trustedProxies)),
  );
  const extendToken = createTokenExtender(secret);
  const callAs = createCallAs(pipeline);
  const findCatalog = createFindCatalog(collections);
  const gateway = newGatewayName();
  const others = connectGateways(bus, {
    name: gateway,
    secret,
    here: {
      submit: (submission) => streams.submit(submission),
      deliver: (delivery) => streams.deliver(delivery),
      listEnded: (ids) => replay.listEnded(ids),
    },
  });
  const schemaVersion = () => collections.version();
  const replay = createReplay({ database, settings, log, secret, gateway, schemaVersion, others });
  const addressOf = ({ socket, headers }: IncomingMessage) =>
    findClient()(socket.remoteAddress ?? '', `${headers['x-forwarded-for'] ?? ''}`);
  const streams = createClientStreams({
    gateway,
    callAs,
    findCatalog,
    addressOf,
    maxOfAddress: () => settings.get('realtime.max_connections_per_address'),
    replay,
  });
  const identifyToken = createIdentify({ verifier: createTokenVerifier(secret), accounts, movedTokens });
  const answer = createAnswerClient({
    log,
    callAs,
    streams: {
      open(request, response) {
        others.open();
        streams.open(request, response);
      },
    },
    submitTopics: createSubmitTopics({ identifyToken, streams, others }),
    returnFromProvider: createReturnFromProvider({ streams, others }),
    findCatalog,
    addressOf,
    withClaims: (token, collectionId) => extendToken(token, { type: 'auth', collectionId, refreshable: true }),
    accounts: {
      identityFieldsOf: (collection) => [
        'email',
        ...identityFieldsOf(collection, settings.getNamed('auth.identity.<collection>', collection.name)).map(
          ({ name }) => name,
        ),
      ],
      takes({ name }, way) {
        const taken = settings.getNamed('auth.methods.<collection>', name);
        return (taken.length === 0 || taken.includes(way)) && (way !== 'otp' || settings.get('auth.otp.enabled'));
      },
      mailsFactors: ({ name }) => settings.getNamed('auth.mfa.email.<collection>', name),
    },
  });
  settings.onChange((changed) => {
    if (!changed.has('pocketbase.enabled')) return;
    // Servers of a cluster need a moment to learn where a question goes, so this comes before the first stream.
    if (settings.get('pocketbase.enabled')) others.open();
    else streams.close();
  });
  return {
    app(request, response) {
      const enabledHosts = hosts();
      const path = enabledHosts && request.method !== 'OPTIONS' ? findClientPath(request, enabledHosts) : undefined;
      if (path) void answer(request, response, path);
      else pipeline(request, response);
    },
    drain: () => streams.close(),
    async stop() {
      await replay.stop();
      others.close();
      await collections.close();
    },
  };
}
