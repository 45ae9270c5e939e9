import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { marker } from './plants.ts';

/**
 * The places in docs/privacy.md, each with the tables that have the marker while the person is there, by the beginning of their
 * names. Other places are looked at below. Places that an erasure leaves have none.
 */
export const places: Readonly<Record<string, readonly string[]>> = {
  'the record, and records that refer to it with `cascade`': ['records.'],
  'versions (`history_enabled`)': ['history.'],
  'files and previews, with their original names': ['system.uploaded_files'],
  'search index': ['search.'],
  'words that typos are corrected to': ['search.'],
  'vectors in memory': [],
  'stored events and deliveries of webhooks, also polled ones': ['system.events', 'system.deliveries'],
  outbox: ['system.outbox'],
  'event stream': [],
  'answers for idempotency keys': ['system.idempotency_keys'],
  // They are encrypted, so they are counted below.
  'mails that came in': [],
  'waiting mails, and the mail log': ['system.mail_queue', 'system.mails'],
  'sessions, tokens, passkeys, links to providers': [
    'system.one_time_tokens',
    'system.passkeys',
    'system.oauth_links',
    'system.sessions',
  ],
  'request log': ['system.requests'],
  'counters of sign-ins and mails, by address': ['system.failed_logins'],
  'audit log': [],
  'jobs and cron runs of extensions': ['system.extension_jobs', 'system.cron_runs'],
  'values that extensions keep': [],
  'archives of own data': [],
  'import bodies, and messages of refused rows': [],
  'webhooks of owners': [],
  backups: [],
  "receivers, other systems, the servers' own logs": [],
  "bytes in PostgreSQL's files": [],
};

/** All files below a directory whose path or content has the marker, archives of backups and bodies of imports left out. */
export function filesWith(root: string): string[] {
  const isNamed = (text: string) => text.toLowerCase().includes(marker.toLowerCase());
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/^backups|_jobs/.test(name) && statSync(join(root, name)).isFile())
    .filter((name) => isNamed(name) || isNamed(readFileSync(join(root, name), 'latin1')));
}

/** The archives of own data below a directory. */
export const archivesIn = (root: string): string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => /_own_data.*\.zip/.test(name));
