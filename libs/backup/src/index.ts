export { type BackupOptions, type BackupResult, createBackup } from './create-backup.ts';
export { type ArchiveContents, inspectArchive, readManifest } from './inspect-archive.ts';
export {
  dataFolder,
  filesFolder,
  keyEntry,
  type Manifest,
  manifestEntry,
  schemaDocument,
  schemaEntry,
  secretEntry,
  sequencesDocument,
  sequencesEntry,
} from './manifest.ts';
export { findProcessedSequence } from './processed-sequence.ts';
export { type ArchiveEntry, type ArchiveLimits, ArchiveRefused, readArchive } from './read-archive.ts';
export { restoreSequences } from './sequences.ts';
export { createTableLoader } from './table-data.ts';
