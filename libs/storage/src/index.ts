export { type FileKey, fileKey, previewKey, previewMark } from './file-key.ts';
export { idsStartOf } from './ids-start.ts';
export { openLocalStorage } from './local-storage.ts';
export { openStorage, storageVariables } from './open-storage.ts';
export { bytesAtOnce } from './pieces.ts';
export type { Storage, StoredPreview } from './storage.ts';
