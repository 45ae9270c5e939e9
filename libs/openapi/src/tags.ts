/** What the operations of a tag are about. A tag that is not here is described by its name. */
export const tagDescriptions: Readonly<Record<string, string>> = {
  records:
    'Records of any collection. The operations of each collection that the caller may see are listed by its name.',
  files: 'Uploaded files, and tokens for those that are protected.',
  auth: 'Signing up and in as a user of an auth collection, and what belongs to an account.',
  collections: 'Collections: their fields, rules and indexes.',
  snapshots: 'The definitions of all collections as one document.',
  webhooks: 'Where events are sent, and what became of them.',
  events: 'The events on the bus.',
  notifications: 'Push notifications.',
  settings: 'What can be changed while the system runs.',
  admins: 'Admins, and signing in as one.',
  audit: 'Who did what.',
  logs: 'What was asked and answered.',
  metrics: 'What the services measure.',
  health: 'How the deployment is.',
  reference: 'This description.',
  extensions: 'Routes that extensions of this deployment bring.',
};
