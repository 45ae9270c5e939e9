/** Ids are UUIDs; those of view rows may be any short text. */
const maxIdLength = 255;

/** Can a record have this id at all? PostgreSQL would refuse the NUL, and nothing is gained by asking it. */
export const isRecordId = (id: string): boolean => id.length <= maxIdLength && !id.includes('\0');
