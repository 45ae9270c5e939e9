export { locks, takeLock, takeLocks } from './advisory-locks.ts';
export type { ClientReads } from './client-reads.ts';
export {
  commandIsRunning,
  commandPrefix,
  openCommandSession,
  PooledSession,
  takeCommandLock,
} from './command-session.ts';
export { type Database, openDatabase, type ReplicaUse } from './database.ts';
export { BrokenAnswerError } from './driver/answer-frames.ts';
export {
  answerTooLarge,
  isConnectionError,
  isDatabaseError,
  mapDatabaseError,
  sqlState,
  textOfRefused,
} from './errors.ts';
export { newId } from './id.ts';
export { createLease } from './lease.ts';
export { limitRules } from './limit-rules.ts';
export { createPartitionLeases, type PartitionLeases } from './partition-leases.ts';
export type { Cursor } from './reads/cursor.ts';
export type { SnapshotWork } from './reads/shaped-reads.ts';
export { urlOfPrimary } from './servers/find-primary.ts';
export { oldestServerVersion } from './startup/server-version.ts';
export { compareTables, type TableVersion } from './startup/table-version.ts';
export type { Query, ReplicaRead, Statement } from './statement.ts';
export { isTokenUsed, useToken } from './used-tokens.ts';
