import { encryptionKey } from '@recordbus/crypto/config';
import { breachServiceUrl } from '@recordbus/passwords/config';
import {
  databaseReplicaUrls,
  databaseUrl,
  dataDirectory,
  jwtSecret,
  natsUrl,
  urlOf,
  variable,
} from '@recordbus/process/config';
import { accountAddress } from '@recordbus/schema/email-address';
import { trustedProxiesVariable } from '@recordbus/settings/config';
import { z } from 'zod';

/** The variables that only a separate service process reads. */
export const loneAuthVariables = {
  recordsUrl: variable(
    'SERVICE_RECORDS_URL',
    "The records service's address; it runs account hooks and stores providers' pictures. If unset, neither happens.",
    urlOf('http', 'https').optional(),
  ),
};

/** The auth service's environment (operation §5.1). */
export const authVariables = {
  databaseUrl,
  databaseReplicaUrls,
  natsUrl,
  dataDirectory,
  jwtSecret,
  encryptionKey,
  breachServiceUrl,
  trustedProxies: trustedProxiesVariable,
  adminEmail: variable(
    'SERVICE_ADMIN_EMAIL',
    "The first admin's address. The start creates this admin if there is none.",
    accountAddress.optional(),
  ),
  adminPassword: variable('SERVICE_ADMIN_PASSWORD', "The first admin's password.", z.string().optional()),
};
