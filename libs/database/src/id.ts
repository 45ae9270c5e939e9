import { v7 } from 'uuid';

/** A new identifier: UUIDv7, so ids sort by time of making (RFC 9562 §5.7). */
export const newId = (): string => v7();
