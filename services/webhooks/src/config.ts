import { eventStreamMaxBytes } from '@recordbus/bus/config';
import { encryptionKey } from '@recordbus/crypto/config';
import { databaseUrl, dataDirectory, jwtSecret, natsUrl } from '@recordbus/shared/config';

/** The environment variables of the webhooks service when it runs alone, in addition to those of every process. */
export const webhooksVariables = {
  databaseUrl,
  natsUrl,
  jwtSecret,
  dataDirectory,
  encryptionKey,
  eventStreamMaxBytes,
};
