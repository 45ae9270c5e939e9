import { schemaMode } from '@recordbus/admin/config';
import { eventStreamMaxBytes } from '@recordbus/bus/config';
import { encryptionKey } from '@recordbus/crypto/config';
import { extensionVariables } from '@recordbus/extension-host/config';
import { breachServiceUrl } from '@recordbus/passwords/config';
import { databaseReplicaUrls, databaseUrl, jwtSecret, natsUrl, variable } from '@recordbus/process/config';
import { storageVariables } from '@recordbus/storage';
import { z } from 'zod';

/** The environment variables for commands. The servers are optional: see `findServers`. */
export const commandVariables = {
  ...storageVariables,
  ...extensionVariables,
  databaseUrl: variable(databaseUrl.name, databaseUrl.about, databaseUrl.schema.optional()),
  databaseReplicaUrls,
  natsUrl: variable(natsUrl.name, natsUrl.about, natsUrl.schema.optional()),
  jwtSecret,
  encryptionKey,
  eventStreamMaxBytes,
  breachServiceUrl,
  schemaMode,
  adminPassword: variable(
    'SERVICE_ADMIN_PASSWORD',
    'Password for admin create and admin reset, which otherwise prompt for it.',
    z.string().optional(),
  ),
  serviceKey: variable('SERVICE_KEY', 'Service key for commands with --url.', z.string().optional()),
  newEncryptionKey: variable(
    'SERVICE_NEW_ENCRYPTION_KEY',
    'The new key for encryption rotate, which otherwise prompts for it.',
    z.string().optional(),
  ),
};
