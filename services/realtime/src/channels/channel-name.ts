import { boundedText } from '@recordbus/text/bounded-text';

/** A channel's name (realtime §7.1). The bus would change a lone surrogate. */
export const channelName = boundedText(200).regex(
  /^[^\p{Cc}\p{Cs}]+$/u,
  'must have 1 to 200 characters without control characters',
);
