import { encryptionKey } from '@recordbus/crypto/config';
import {
  databaseReplicaUrls,
  databaseUrl,
  dataDirectory,
  jwtSecret,
  natsUrl,
  urlOf,
  variable,
  wholeNumber,
} from '@recordbus/process/config';
import { trustedProxiesVariable } from '@recordbus/settings/config';

const serviceUrl = (name: string) =>
  variable(
    `SERVICE_${name.toUpperCase()}_URL`,
    `Where the ${name} service listens; a host name with several addresses is several replicas.`,
    urlOf('http'),
  );

/** Exported alone because a process that runs the gateway with its services reads it too. */
export const answerTimeoutMs = variable(
  'SERVICE_ANSWER_TIMEOUT_MS',
  "Milliseconds that the gateway waits for a service's answer to begin, and for each next part; then it answers 504.",
  wholeNumber(100, 3_600_000).default(60_000),
);

/** The gateway's environment variables (operation §5.1). */
export const gatewayVariables = {
  databaseUrl,
  databaseReplicaUrls,
  natsUrl,
  dataDirectory,
  jwtSecret,
  encryptionKey,
  trustedProxies: trustedProxiesVariable,
  answerTimeoutMs,
  auth: serviceUrl('auth'),
  records: serviceUrl('records'),
  admin: serviceUrl('admin'),
  webhooks: serviceUrl('webhooks'),
  realtime: serviceUrl('realtime'),
};
