import { buffer } from 'node:stream/consumers';
import { type FileContent, sniffContent, sniffedBytes } from '@recordbus/schema/content-types';
import type { FileKey, Storage } from '@recordbus/storage';

/** Stored files' content. */
export interface Types {
  /** The content by the first bytes. They never change, so they are read once. */
  of(key: FileKey, sizeBytes: number): Promise<FileContent>;
}

const maxKnown = 10_000;

/** Creates a content cache, which drops the oldest entries first. */
export function createTypes(storage: Pick<Storage, 'open'>): Types {
  const known = new Map<string, FileContent>();
  return {
    async of(key, sizeBytes) {
      const path = key.segments.join('/');
      const content = known.get(path) ?? (await sniffStored(storage, key, sizeBytes));
      known.set(path, content);
      const [oldest] = known.keys();
      if (known.size > maxKnown && oldest !== undefined) known.delete(oldest);
      return content;
    },
  };
}

async function sniffStored(storage: Pick<Storage, 'open'>, key: FileKey, sizeBytes: number): Promise<FileContent> {
  if (sizeBytes === 0) return sniffContent(Buffer.alloc(0), key.segments[2]);
  const head = await storage.open(key, { start: 0, end: Math.min(sniffedBytes, sizeBytes) - 1 });
  return sniffContent(head ? await buffer(head) : Buffer.alloc(0), key.segments[2]);
}
