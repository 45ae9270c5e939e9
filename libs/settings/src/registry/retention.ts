import { wholeNumber } from '@recordbus/process/config';
import { setting, settingGroup } from './setting.ts';

const days = wholeNumber(1, 3650);

export const retention = settingGroup('Retention', ['webhooks', 'admin', 'gateway', 'records', 'auth'], {
  'webhooks.retention_days': setting(days, '30', 'Days that webhook deliveries are kept.'),
  'jobs.retention_days': setting(days, '7', 'Days that finished jobs and their bodies are kept.'),
  'mail.retention_days': setting(days, '30', 'Days that the log keeps mails that were sent or given up.'),
  'audit.retention_days': setting(days, '365', 'Days that audit rows are kept.'),
  'logs.retention_days': setting(days, '7', 'Days that request log rows are kept.'),
  'logs.requests_max_bytes': setting(
    wholeNumber(2 ** 20, 2 ** 40),
    String(512 * 2 ** 20),
    'How large the request log in the database may be, in bytes, 1 MiB to 1 TiB. The oldest rows go first.',
  ),
});
