import type { RequestListener } from 'node:http';
import { createIdentify, type MovedTokens } from '@recordbus/moved-sessions';
import type { Logger } from '@recordbus/process/logging';
import type { Metrics } from '@recordbus/process/metrics';
import { createChooseRule } from '@recordbus/rate-limits';
import type { Accounts } from '@recordbus/sessions';
import { type Settings, trustedProxiesOf } from '@recordbus/settings';
import { createTickets, createTokenVerifier } from '@recordbus/tokens';
import express from 'express';
import { createFindClient } from '../client-address/find-client.ts';
import { corsKeys, createCorsPolicy } from '../cors/cors-policy.ts';
import { followSettings } from '../follow-settings.ts';
import type { ServiceKeys } from '../keys/service-keys.ts';
import { createLimiter } from '../rate-limit/limiter.ts';
import type { SharedWindows } from '../rate-limit/shared-windows.ts';
import type { RecentWrites } from '../recent-writes/recent-writes.ts';
import type { RequestLog } from '../request-log/request-log.ts';
import type { RoutingTable } from '../routing/routing-table.ts';
import type { SessionUse } from '../session-use/session-use.ts';
import { admitCaller } from './admit-caller.ts';
import { createAdmitOpen } from './admit-open.ts';
import { admitScrape } from './admit-scrape.ts';
import { answerError } from './answer-error.ts';
import { authenticate } from './authenticate.ts';
import { beginExchange } from './begin-exchange.ts';
import { cors } from './cors.ts';
import { forward } from './forward.ts';
import { createForwardOpen } from './forward-open.ts';
import { keepConsistent } from './keep-consistent.ts';
import { refuseKeyInUrl } from './key-in-url.ts';
import { limitBody } from './limit-body.ts';
import { limitRate } from './limit-rate.ts';
import { matchRoute } from './match-route.ts';
import { measure } from './measure.ts';
import { noteRequest } from './note-request.ts';
import { createOpenCounts } from './open-counts.ts';
import type { UseTicket } from './use-ticket.ts';

export interface PipelineDeps {
  readonly log: Logger;
  /** The raw bytes of the secret that signs tokens. */
  readonly secret: Uint8Array;
  readonly settings: Settings;
  readonly accounts: Pick<Accounts, 'findPrincipal'>;
  readonly movedTokens: MovedTokens;
  readonly keys: ServiceKeys;
  readonly sessionUse: SessionUse;
  readonly useTicket: UseTicket;
  /** The rate limits' counters. */
  readonly windows: SharedWindows;
  /** Callers' recent writes; undefined without read replicas. */
  readonly recentWrites: RecentWrites | undefined;
  readonly requestLog: RequestLog;
  /** The trusted proxies' CIDRs, used while the settings name none. */
  readonly trustedProxies: readonly string[];
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
}

interface PipelineParts {
  readonly metrics: Metrics;
  readonly table: RoutingTable;
}

/** Creates every request's steps, in order. A settings change reaches the steps that read them. */
export function createPipeline(deps: PipelineDeps, { metrics, table }: PipelineParts): RequestListener {
  const {
    log,
    secret,
    settings,
    accounts,
    movedTokens,
    keys,
    sessionUse,
    useTicket,
    windows,
    recentWrites,
    requestLog,
    trustedProxies,
    clock = Date.now,
  } = deps;
  const findClient = followSettings(settings, ['security.trusted_proxies'], () =>
    createFindClient(trustedProxiesOf(settings, trustedProxies)),
  );
  const corsPolicy = followSettings(settings, corsKeys, () => createCorsPolicy(settings));
  const rateRules = followSettings(settings, ['rate_limit.enabled', 'rate_limit.rules'], () =>
    settings.get('rate_limit.enabled') ? createChooseRule(settings.get('rate_limit.rules')) : undefined,
  );
  const logRules = followSettings(settings, ['logs.access', 'logs.slow_ms'], () => ({
    mode: settings.get('logs.access'),
    slowMs: settings.get('logs.slow_ms'),
  }));
  const filesHost = () => settings.get('files.host');
  const tickets = createTickets(secret, clock);
  const admitOpen = createAdmitOpen({ corsPolicy, tickets, accounts, sessionUse });
  const verifier = createTokenVerifier(secret, clock);
  const identifyToken = createIdentify({ verifier, accounts, movedTokens });
  const nowMs = () => performance.now();

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(
    beginExchange(log, findClient, logRules),
    measure(metrics),
    noteRequest(requestLog),
    cors(corsPolicy, filesHost),
    matchRoute(table, filesHost),
    refuseKeyInUrl(keys),
    admitScrape(settings),
    authenticate({ identifyToken, keys, sessionUse, admitOpen }),
    limitRate(rateRules, createLimiter(windows, nowMs)),
    admitCaller,
    limitBody,
    ...(recentWrites ? [keepConsistent(recentWrites)] : []),
    forward(createForwardOpen({ openCounts: createOpenCounts(metrics), useTicket })),
    answerError(log),
  );
  return app;
}
