/** The descriptions of tags. A tag without one is described by its name. */
export const tagDescriptions: Readonly<Record<string, string>> = {
  records:
    'Records of any collection. The operations of each collection that the caller may see are listed by its name.',
  files: 'Uploaded files, and tokens for protected ones.',
  auth: 'Sign-up and sign-in of users of an auth collection, and their accounts.',
  collections: 'Collections: their fields, rules and indexes.',
  snapshots: 'The definitions of all collections as one document.',
  webhooks: 'Webhooks and their deliveries.',
  events: 'The events on the bus.',
  notifications: 'Push notifications.',
  settings: 'Settings, which can change while the system runs.',
  admins: 'Admins and their sign-in.',
  audit: 'The audit log: who did what.',
  logs: 'The request log.',
  metrics: 'The metrics of the services.',
  health: 'The health of the deployment.',
  reference: 'This description.',
  extensions: 'Routes of the extensions of this deployment.',
};
