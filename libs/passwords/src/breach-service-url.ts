import { urlOf, variable } from '@recordbus/shared/config';

/** Where breached passwords are asked for (contract §4). */
export const breachServiceUrl = variable(
  'SERVICE_HIBP_URL',
  'Range service of breached passwords, to which the first 5 characters of a hash are appended.',
  urlOf('http').default('https://api.pwnedpasswords.com/range/'),
);
