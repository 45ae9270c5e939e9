export { type DataDirectoryLock, findHolder, type Holder, lockDataDirectory } from './data-directory.ts';
export type { EmbeddedServer } from './embedded-server.ts';
export { startNats } from './nats.ts';
export { startPostgres } from './postgres.ts';
export { findStackNote, type StackNote, writeStackNote } from './stack-note.ts';
export { until } from './until.ts';
