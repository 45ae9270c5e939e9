import { eventStreamMaxBytes } from '@recordbus/bus/config';
import { encryptionKey } from '@recordbus/crypto/config';
import { databaseUrl, dataDirectory, jwtSecret, natsUrl, urlOf, variable } from '@recordbus/process/config';

/** The realtime service's environment variables when it runs alone, in addition to every process's. */
export const realtimeVariables = {
  databaseUrl,
  natsUrl,
  jwtSecret,
  dataDirectory,
  encryptionKey,
  eventStreamMaxBytes,
  recordsUrl: variable(
    'SERVICE_RECORDS_URL',
    "The records service's address; it decides who sees which change.",
    urlOf('http', 'https'),
  ),
};
