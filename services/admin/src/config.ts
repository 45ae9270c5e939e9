import { encryptionKey } from '@recordbus/crypto/config';
import { fcmUrl, onesignalUrl } from '@recordbus/notifications/config';
import { breachServiceUrl } from '@recordbus/passwords/config';
import { databaseUrl, dataDirectory, jwtSecret, natsUrl } from '@recordbus/shared/config';
import { releaseUrl } from './update-check/release-url.ts';

/** The environment of the admin service, beside what every process reads (contract §9). */
export const adminVariables = {
  databaseUrl,
  natsUrl,
  dataDirectory,
  jwtSecret,
  encryptionKey,
  breachServiceUrl,
  fcmUrl,
  onesignalUrl,
  releaseUrl,
};
