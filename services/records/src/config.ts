import { eventStreamMaxBytes } from '@recordbus/bus/config';
import { encryptionKey } from '@recordbus/crypto/config';
import { extensionVariables } from '@recordbus/extension-host/config';
import { fcmUrl, onesignalUrl } from '@recordbus/notifications/config';
import { breachServiceUrl } from '@recordbus/passwords/config';
import { databaseUrl, jwtSecret, natsUrl, variable, wholeNumber } from '@recordbus/shared/config';
import { storageVariables } from '@recordbus/storage';

/** Contract §3. */
const maxUploadBytes = variable(
  'SERVICE_MAX_UPLOAD_BYTES',
  'Largest multipart body in bytes; 100 MiB when not set.',
  wholeNumber(1, 2 ** 46).optional(),
);

/** What the service needs beside its database and its bus, wherever it runs. */
export const fileVariables = { ...storageVariables, maxUploadBytes };

/** What the records service reads from its environment when it runs alone, beside what every process reads. */
export const recordsVariables = {
  databaseUrl,
  natsUrl,
  jwtSecret,
  encryptionKey,
  breachServiceUrl,
  eventStreamMaxBytes,
  ...fileVariables,
  ...extensionVariables,
  fcmUrl,
  onesignalUrl,
};
