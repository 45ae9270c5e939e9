import { encryptionKey } from '@recordbus/crypto';
import { breachServiceUrl } from '@recordbus/passwords';
import { emailAddress } from '@recordbus/schema';
import { trustedProxiesVariable } from '@recordbus/settings';
import { databaseUrl, dataDirectory, jwtSecret, natsUrl, variable } from '@recordbus/shared/config';
import { z } from 'zod';

/** The environment of the auth service (contract §9). */
export const authVariables = {
  databaseUrl,
  natsUrl,
  dataDirectory,
  jwtSecret,
  encryptionKey,
  breachServiceUrl,
  trustedProxies: trustedProxiesVariable,
  adminEmail: variable(
    'SERVICE_ADMIN_EMAIL',
    'E-mail address of the first admin, made at start when there is none.',
    emailAddress.optional(),
  ),
  adminPassword: variable('SERVICE_ADMIN_PASSWORD', 'Password of the first admin.', z.string().optional()),
};
