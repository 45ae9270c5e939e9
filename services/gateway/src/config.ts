import { encryptionKey } from '@recordbus/crypto';
import { databaseUrl, dataDirectory, jwtSecret, natsUrl, urlOf, variable } from '@recordbus/shared/config';

const serviceUrl = (name: string) =>
  variable(
    `SERVICE_${name.toUpperCase()}_URL`,
    `Where the ${name} service listens; a host name with several addresses is several replicas.`,
    urlOf('http'),
  );

/** The environment of the gateway (contract §9). */
export const gatewayVariables = {
  databaseUrl,
  natsUrl,
  dataDirectory,
  jwtSecret,
  encryptionKey,
  auth: serviceUrl('auth'),
  records: serviceUrl('records'),
  admin: serviceUrl('admin'),
  webhooks: serviceUrl('webhooks'),
};
