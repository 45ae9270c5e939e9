import { encryptionKey } from '@recordbus/crypto';
import { fcmUrl, onesignalUrl } from '@recordbus/notifications';
import { breachServiceUrl } from '@recordbus/passwords';
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
