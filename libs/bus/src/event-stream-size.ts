import { variable, wholeNumber } from '@recordbus/shared/config';

export const defaultStreamBytes = 1024 ** 3;

export const eventStreamMaxBytes = variable(
  'SERVICE_EVENTS_MAX_BYTES',
  'Size in bytes up to which the event stream may grow.',
  wholeNumber(1024 ** 2, 2 ** 50).default(defaultStreamBytes),
);
