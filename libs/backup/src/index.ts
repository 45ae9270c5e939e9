export { type BackupOptions, type BackupResult, createBackup } from './create-backup.ts';
export { createHashing } from './hashing.ts';
export {
  archiveFormat,
  checksumsEntry,
  dataFolder,
  filesFolder,
  keyEntry,
  type Manifest,
  manifest,
  manifestEntry,
  schemaDocument,
  schemaEntry,
  secretEntry,
  sequencesDocument,
  sequencesEntry,
} from './manifest.ts';
export { findProcessedSequence } from './processed-sequence.ts';
export { restoreSequences } from './sequences.ts';
export { createTableLoader } from './table-data.ts';
