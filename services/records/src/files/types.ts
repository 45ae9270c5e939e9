import { buffer } from 'node:stream/consumers';
import type { FileKey, Storage } from '@recordbus/storage';
import { sniffedBytes, sniffType } from './sniff-type.ts';

/** Content types of stored files. */
export interface Types {
  /** The content type by the first bytes. They never change, so they are read once. */
  of(key: FileKey, sizeBytes: number): Promise<string>;
}

const maxKnown = 10_000;

/** Creates a cache of content types, which drops the oldest entries first. */
export function createTypes(storage: Pick<Storage, 'open'>): Types {
  const known = new Map<string, string>();
  return {
    async of(key, sizeBytes) {
      const path = key.segments.join('/');
      const type = known.get(path) ?? (await sniffStored(storage, key, sizeBytes));
      known.set(path, type);
      const [oldest] = known.keys();
      if (known.size > maxKnown && oldest !== undefined) known.delete(oldest);
      return type;
    },
  };
}

async function sniffStored(storage: Pick<Storage, 'open'>, key: FileKey, sizeBytes: number): Promise<string> {
  if (sizeBytes === 0) return sniffType(Buffer.alloc(0), key.segments[2]);
  const head = await storage.open(key, { start: 0, end: Math.min(sniffedBytes, sizeBytes) - 1 });
  return sniffType(head ? await buffer(head) : Buffer.alloc(0), key.segments[2]);
}
