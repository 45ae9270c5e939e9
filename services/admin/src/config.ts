import { encryptionKey } from '@recordbus/crypto/config';
import { fcmUrl, onesignalUrl } from '@recordbus/notifications/config';
import { breachServiceUrl } from '@recordbus/passwords/config';
import { databaseReplicaUrls, databaseUrl, dataDirectory, jwtSecret, natsUrl } from '@recordbus/process/config';
import { pagesDirectory } from './pages/pages-directory.ts';
import { schemaMode } from './schema/schema-mode.ts';
import { releaseUrl } from './update-check/release-url.ts';

export { schemaMode };

/** The admin service's environment variables, in addition to every process's (operation §5.1). */
export const adminVariables = {
  databaseUrl,
  databaseReplicaUrls,
  natsUrl,
  dataDirectory,
  jwtSecret,
  encryptionKey,
  breachServiceUrl,
  fcmUrl,
  onesignalUrl,
  releaseUrl,
  schemaMode,
  pagesDirectory,
};
