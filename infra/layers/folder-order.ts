/**
 * The folders of each service, and of large libraries, and the files next to them, from the entry down. A level imports only levels below it, and
 * the names of one level do not import each other. So subjects never import `routes`, and no imports run in a circle.
 */
export const folderOrder: Readonly<Record<string, readonly string[]>> = {
  'libs/query': ['index', 'rules', 'sql', 'resolve', 'language', 'limits', 'query-error'],
  'services/admin': [
    'main',
    'app config',
    'routes',
    'snapshots',
    'collections',
    'indexes views',
    'admins ddl schema settings webhooks',
    'audit events update-check',
  ],
  'services/auth': [
    'main testing',
    'app config',
    'routes',
    'first-admin oauth otp',
    'sign-in sign-up',
    'totp',
    'identity',
    'passwords',
    'sessions verification',
    'hooks users',
    'auth-parts auth-unit background-work features housekeeping mail-metrics',
    'auth-collections lockout one-time',
  ],
  'services/gateway': [
    'main',
    'app config',
    'own-service',
    'pipeline routes',
    'accounts client-address cors follow-settings metrics rate-limit reference request-log routing',
    'upstream',
  ],
  'services/records': [
    'main',
    'app config',
    'record-subjects',
    'records-parts routes',
    'extensions',
    'account-writes aggregate delete history',
    'write',
    'accounts vector',
    'files read',
    'record',
    'rules',
    'description records-deps',
  ],
  'services/webhooks': ['main', 'app config', 'health retention webhook-metrics', 'delivery fan-out'],
};
