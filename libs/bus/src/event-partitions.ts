import { variable, wholeNumber } from '@recordbus/process/config';

export const defaultPartitions = 8;

/** operation §5.1. */
export const eventPartitions = variable(
  'SERVICE_EVENT_PARTITIONS',
  'Number of partitions into which records replicas divide the events to publish, 1 to 64; 8 by default.',
  wholeNumber(1, 64).optional(),
);
