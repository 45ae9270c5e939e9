import { eventStreamMaxBytes } from '@recordbus/bus/config';
import { encryptionKey } from '@recordbus/crypto/config';
import { extensionVariables } from '@recordbus/extension-host/config';
import { breachServiceUrl } from '@recordbus/passwords/config';
import { databaseUrl, jwtSecret, natsUrl, variable } from '@recordbus/shared/config';
import { storageVariables } from '@recordbus/storage';
import { z } from 'zod';

/** The environment of the commands: that of the services, with the servers of the data directory where none are named. */
export const commandVariables = {
  ...storageVariables,
  ...extensionVariables,
  databaseUrl: variable(databaseUrl.name, databaseUrl.about, databaseUrl.schema.optional()),
  natsUrl: variable(natsUrl.name, natsUrl.about, natsUrl.schema.optional()),
  jwtSecret,
  encryptionKey,
  eventStreamMaxBytes,
  breachServiceUrl,
  adminPassword: variable(
    'SERVICE_ADMIN_PASSWORD',
    'Password for admin create and admin reset, which otherwise ask for it.',
    z.string().optional(),
  ),
  newEncryptionKey: variable(
    'SERVICE_NEW_ENCRYPTION_KEY',
    'The key that encryption rotate changes to, which otherwise asks for it.',
    z.string().optional(),
  ),
};
