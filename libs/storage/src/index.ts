export { type FileKey, fileKey } from './file-key.ts';
export { openLocalStorage } from './local-storage.ts';
export type { ByteRange, Storage, StoredFile } from './storage.ts';
