import { encryptionKey } from '@recordbus/crypto/config';
import { breachServiceUrl } from '@recordbus/passwords/config';
import { emailAddress } from '@recordbus/schema/email-address';
import { trustedProxiesVariable } from '@recordbus/settings/config';
import { databaseUrl, dataDirectory, jwtSecret, natsUrl, urlOf, variable } from '@recordbus/shared/config';
import { z } from 'zod';

/** What the service reads only when it runs alone. */
export const loneAuthVariables = {
  recordsUrl: variable(
    'SERVICE_RECORDS_URL',
    'Where the records service listens, which runs the hooks of accounts; without it they have none.',
    urlOf('http', 'https').optional(),
  ),
};

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
