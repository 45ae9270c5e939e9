import { eventStreamMaxBytes } from '@recordbus/bus/config';
import { encryptionKey } from '@recordbus/crypto/config';
import { databaseUrl, dataDirectory, jwtSecret, natsUrl } from '@recordbus/process/config';

/** The webhooks service's environment variables when it runs alone, in addition to every process's. */
export const webhooksVariables = {
  databaseUrl,
  natsUrl,
  jwtSecret,
  dataDirectory,
  encryptionKey,
  eventStreamMaxBytes,
};
