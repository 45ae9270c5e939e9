import { statements as foundation } from './0001-foundation.ts';
import { statements as webhooks } from './0002-webhooks.ts';
import { statements as recordTotals } from './0003-record-totals.ts';
import { statements as audit } from './0004-audit.ts';
import { statements as webhookHealth } from './0005-webhook-health.ts';
import { statements as history } from './0006-history.ts';
import { statements as mail } from './0007-mail.ts';
import { statements as viewsAndIndexes } from './0008-views-and-indexes.ts';
import { statements as idempotencyKeys } from './0009-idempotency-keys.ts';
import { statements as accounts } from './0010-accounts.ts';
import { statements as codes } from './0011-codes.ts';
import { statements as files } from './0012-files.ts';
import { statements as oauthLinks } from './0014-oauth-links.ts';
import { statements as impersonation } from './0015-impersonation.ts';
import { statements as rateWindows } from './0016-rate-windows.ts';
import { statements as requests } from './0017-requests.ts';
import { statements as extensionValues } from './0020-extension-values.ts';
import { statements as crons } from './0021-crons.ts';
import { statements as hookedAccounts } from './0022-hooked-accounts.ts';
import { statements as answerTooLarge } from './0023-answer-too-large.ts';
import { statements as identity } from './0024-identity.ts';
import { statements as linkIssuers } from './0025-link-issuers.ts';
import { statements as recordVersions } from './0026-record-versions.ts';
import { statements as keyCheck } from './0027-key-check.ts';
import { statements as previews } from './0028-previews.ts';
import { statements as unprovedUndos } from './0029-unproved-undos.ts';
import { statements as links } from './0030-links.ts';
import { statements as deletedVersions } from './0031-deleted-versions.ts';
import { statements as targets } from './0032-targets.ts';
import { statements as fileRemovals } from './0033-file-removals.ts';
import { statements as schemaMigrations } from './0040-schema-migrations.ts';
import { statements as jobs } from './0043-jobs.ts';
import { statements as fetchWithin } from './0044-fetch-within.ts';
import { statements as serviceKeys } from './0047-service-keys.ts';
import { statements as blockedAccounts } from './0080-blocked-accounts.ts';
import { statements as eventFacts } from './0085-event-facts.ts';
import { statements as backups } from './0086-backups.ts';
import { statements as adminSecondFactor } from './0087-admin-second-factor.ts';
import { statements as roomGrants } from './0090-room-grants.ts';
import { statements as timelines } from './0091-timelines.ts';
import { statements as durability } from './0092-durability.ts';
import { statements as keepAnnounced } from './0093-keep-announced.ts';
import { statements as keptByStatement } from './0094-kept-by-statement.ts';
import { statements as lastVersions } from './0095-last-versions.ts';
import { statements as largeAnswers } from './0096-large-answers.ts';
import { statements as announcedRanges } from './0097-announced-ranges.ts';
import { statements as sealedEvents } from './0098-sealed-events.ts';
import { up as canonicalAddresses } from './0099-canonical-addresses.ts';
import { statements as boundedRequests } from './0100-bounded-requests.ts';
import { statements as mailTurns } from './0101-mail-turns.ts';
import type { MigrationQuery } from './migration-query.ts';

/** The statements of every migration, in order. A released migration never changes. */
export const migrations: Readonly<Record<string, readonly string[]>> = {
  '0001-foundation': foundation,
  '0002-webhooks': webhooks,
  '0003-record-totals': recordTotals,
  '0004-audit': audit,
  '0005-webhook-health': webhookHealth,
  '0006-history': history,
  '0007-mail': mail,
  '0008-views-and-indexes': viewsAndIndexes,
  '0009-idempotency-keys': idempotencyKeys,
  '0010-accounts': accounts,
  '0011-codes': codes,
  '0012-files': files,
  '0014-oauth-links': oauthLinks,
  '0015-impersonation': impersonation,
  '0016-rate-windows': rateWindows,
  '0017-requests': requests,
  '0020-extension-values': extensionValues,
  '0021-crons': crons,
  '0022-hooked-accounts': hookedAccounts,
  '0023-answer-too-large': answerTooLarge,
  '0024-identity': identity,
  '0025-link-issuers': linkIssuers,
  '0026-record-versions': recordVersions,
  '0027-key-check': keyCheck,
  '0028-previews': previews,
  '0029-unproved-undos': unprovedUndos,
  '0030-links': links,
  '0031-deleted-versions': deletedVersions,
  '0032-targets': targets,
  '0033-file-removals': fileRemovals,
  '0040-schema-migrations': schemaMigrations,
  '0043-jobs': jobs,
  '0044-fetch-within': fetchWithin,
  '0047-service-keys': serviceKeys,
  '0080-blocked-accounts': blockedAccounts,
  '0085-event-facts': eventFacts,
  '0086-backups': backups,
  '0087-admin-second-factor': adminSecondFactor,
  '0090-room-grants': roomGrants,
  '0091-timelines': timelines,
  '0092-durability': durability,
  '0093-keep-announced': keepAnnounced,
  '0094-kept-by-statement': keptByStatement,
  '0095-last-versions': lastVersions,
  '0096-large-answers': largeAnswers,
  '0097-announced-ranges': announcedRanges,
  '0098-sealed-events': sealedEvents,
  '0099-canonical-addresses': [],
  '0100-bounded-requests': boundedRequests,
  '0101-mail-turns': mailTurns,
};

/** What a migration does after its statements, where SQL alone cannot do it. */
export const steps: Readonly<Record<string, (query: MigrationQuery) => Promise<void>>> = {
  '0099-canonical-addresses': canonicalAddresses,
};
