/** Ids are UUIDs; ids of view rows may be any short text. */
const maxIdLength = 255;

/** Whether a record can have this id. PostgreSQL would refuse a NUL. */
export const isRecordId = (id: string): boolean => id.length <= maxIdLength && !id.includes('\0');
