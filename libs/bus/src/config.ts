export { eventPartitions } from './event-partitions.ts';
export { defaultSizeOnDisk, eventStreamMaxBytes } from './event-stream-size.ts';
