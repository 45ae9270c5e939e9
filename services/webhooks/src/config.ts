import { eventStreamMaxBytes } from '@recordbus/bus/config';
import { encryptionKey } from '@recordbus/crypto/config';
import { databaseUrl, dataDirectory, jwtSecret, natsUrl } from '@recordbus/shared/config';

/** What the webhooks service reads from its environment when it runs alone, beside what every process reads. */
export const webhooksVariables = {
  databaseUrl,
  natsUrl,
  jwtSecret,
  dataDirectory,
  encryptionKey,
  eventStreamMaxBytes,
};
