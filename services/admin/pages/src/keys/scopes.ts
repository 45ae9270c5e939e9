/** A service key's other scopes and what they allow, in order (keys §3.1). */
export const fixedScopes: Readonly<Record<string, string>> = {
  'collections:read': 'Read collections, indexes, schema snapshots and event schemas',
  'collections:apply': 'Read and change collections, indexes and schemas',
  'webhooks:read': 'Read webhooks, including secrets, and deliveries',
  'webhooks:write': 'Read and change webhooks. Send tests, resend and replay deliveries',
  'settings:read': 'Read settings, including secrets',
  'settings:write': 'Read and change settings. Send test mails and notifications',
  files: 'Download files from collections that the key can read',
  'logs:read': 'Read the request log and the audit log',
  'metrics:read': 'Read metrics',
  'users:impersonate': 'Act as a user',
  admin: 'Everything above. Manage admins, keys, users and crons',
};

/** The kinds of access to a collection's records. */
export const recordScopes = ['read', 'write', 'delete', 'rules'] as const;
export type RecordScope = (typeof recordScopes)[number];

/** Returns the scope for one kind of access to a collection. `*` means all collections. */
export const recordScope = (collection: string, act: RecordScope): string =>
  act === 'rules' ? `rules:${collection}` : `records:${collection}:${act}`;

/** Returns the collections that scopes name. */
export const collectionsIn = (scopes: readonly string[]): readonly string[] => [
  ...new Set(scopes.flatMap((scope) => /^(?:records|rules):([^:]+)/.exec(scope)?.[1] ?? [])),
];
