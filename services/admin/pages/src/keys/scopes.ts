/** What a scope of a service key allows, in the order of the list (keys §3.1). */
export const fixedScopes: Readonly<Record<string, string>> = {
  'collections:read': 'read definitions of collections, indexes, snapshots and schemas of events',
  'collections:apply': 'read and change them',
  'webhooks:read': 'read webhooks, with their secrets, and deliveries',
  'webhooks:write': 'read and change them; tests, redeliveries and replays',
  'settings:read': 'read settings, with decrypted secrets',
  'settings:write': 'read and change them; test mails and notifications',
  files: 'download files, where it may read their collection',
  'logs:read': 'read the request log and the audit log',
  'metrics:read': 'read the metrics',
  'users:impersonate': 'act as a user',
  admin: 'everything above; admins, keys, users and crons',
};

/** How a key comes to the records of a collection. */
export const recordScopes = ['read', 'write', 'delete', 'rules'] as const;
export type RecordScope = (typeof recordScopes)[number];

/** Returns the scope of an act in a collection, `*` for all. */
export const recordScope = (collection: string, act: RecordScope): string =>
  act === 'rules' ? `rules:${collection}` : `records:${collection}:${act}`;

/** Returns the collections that scopes name. */
export const collectionsIn = (scopes: readonly string[]): readonly string[] => [
  ...new Set(scopes.flatMap((scope) => /^(?:records|rules):([^:]+)/.exec(scope)?.[1] ?? [])),
];
