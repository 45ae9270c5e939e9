/** The descriptions of tags. A tag without one is described by its name. */
export const tagDescriptions: Readonly<Record<string, string>> = {
  records:
    'Records of any collection. The operations of each collection that the caller may see are listed by its name.',
  files: 'Uploaded files, and tokens for protected ones.',
  auth: 'Registration and sign-in of the users of an auth collection, and their accounts.',
  collections: 'Collections: their fields, rules and indexes.',
  snapshots: 'The definitions of all collections as one document.',
  webhooks: 'Webhooks and their deliveries.',
  crons: 'Crons of the extensions, and their runs.',
  events: 'The events on the bus.',
  notifications: 'Push notifications.',
  settings: 'Settings, which can change at runtime.',
  admins: 'Admins and their sign-in.',
  audit: 'The audit log.',
  logs: 'The request log.',
  metrics: 'The metrics of the services.',
  health: 'The health of the deployment.',
  reference: 'The API document.',
  pages: 'The admin pages.',
  extensions: 'Routes of the extensions of this deployment.',
};
