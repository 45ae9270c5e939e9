export { type FileKey, fileKey, previewKey } from './file-key.ts';
export { openLocalStorage } from './local-storage.ts';
export { openStorage, storageVariables } from './open-storage.ts';
export type { Storage } from './storage.ts';
