import { emailAddress } from '@recordbus/schema';
import { databaseUrl, dataDirectory, jwtSecret, variable } from '@recordbus/shared/config';
import { z } from 'zod';

/** The environment of the auth service (contract §9). */
export const authVariables = {
  databaseUrl,
  dataDirectory,
  jwtSecret,
  adminEmail: variable(
    'SERVICE_ADMIN_EMAIL',
    'E-mail address of the first admin, made at start when there is none.',
    emailAddress.optional(),
  ),
  adminPassword: variable('SERVICE_ADMIN_PASSWORD', 'Password of the first admin.', z.string().optional()),
};
