import { boundedText } from '@recordbus/shared/bounded-text';

/** The name of a channel (realtime §7.1). A lone surrogate would be another name once it has passed the bus. */
export const channelName = boundedText(200).regex(
  /^[^\p{Cc}\p{Cs}]+$/u,
  'must have 1 to 200 characters without control characters',
);
