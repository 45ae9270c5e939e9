const startLength = 'xxxxxxxx-xx'.length;

/** The beginning that a record's id shares with the other UUIDv7 from the same 256 ms (RFC 9562 §5.7). */
export const idsStartOf = (recordId: string): string => recordId.slice(0, startLength);
