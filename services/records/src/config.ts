import { eventStreamMaxBytes } from '@recordbus/bus';
import { encryptionKey } from '@recordbus/crypto';
import { breachServiceUrl } from '@recordbus/passwords';
import { databaseUrl, dataDirectory, jwtSecret, natsUrl } from '@recordbus/shared/config';

/** What the records service reads from its environment when it runs alone, beside what every process reads. */
export const recordsVariables = {
  databaseUrl,
  natsUrl,
  jwtSecret,
  dataDirectory,
  encryptionKey,
  breachServiceUrl,
  eventStreamMaxBytes,
};
