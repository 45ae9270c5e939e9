import { urlOf, variable } from '@recordbus/process/config';

/** The breach check's range service (auth §2.3). */
export const breachServiceUrl = variable(
  'SERVICE_HIBP_URL',
  "Range service for breached passwords; a hash's first 5 characters are appended.",
  urlOf('http').default('https://api.pwnedpasswords.com/range/'),
);
