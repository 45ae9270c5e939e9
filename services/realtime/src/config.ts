import { encryptionKey } from '@recordbus/crypto/config';
import { databaseUrl, dataDirectory, jwtSecret, natsUrl } from '@recordbus/shared/config';

/** The environment variables of the realtime service when it runs alone, besides those of every process. */
export const realtimeVariables = {
  databaseUrl,
  natsUrl,
  jwtSecret,
  dataDirectory,
  encryptionKey,
};
