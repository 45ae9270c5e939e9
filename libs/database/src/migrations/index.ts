import type { Migration } from 'kysely/migration';
import * as foundation from './0001-foundation.ts';
import * as webhooks from './0002-webhooks.ts';
import * as recordTotals from './0003-record-totals.ts';
import * as audit from './0004-audit.ts';
import * as webhookHealth from './0005-webhook-health.ts';
import * as history from './0006-history.ts';
import * as mail from './0007-mail.ts';
import * as viewsAndIndexes from './0008-views-and-indexes.ts';
import * as idempotencyKeys from './0009-idempotency-keys.ts';
import * as accounts from './0010-accounts.ts';
import * as codes from './0011-codes.ts';
import * as files from './0012-files.ts';
import * as oauthLinks from './0014-oauth-links.ts';
import * as impersonation from './0015-impersonation.ts';
import * as rateWindows from './0016-rate-windows.ts';
import * as requests from './0017-requests.ts';
import * as extensionValues from './0020-extension-values.ts';
import * as crons from './0021-crons.ts';

/** Every migration in its order; a name that has landed never changes. */
export const migrations: Readonly<Record<string, Migration>> = {
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
};

/** The names of all migrations in their order. */
export const migrationNames: readonly string[] = Object.keys(migrations);
