import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Logger } from '@recordbus/shared/logging';
import { type FileKey, previewKey, type Storage } from '@recordbus/storage';
import type { ThumbSize } from './thumb-size.ts';

/** An image beside its size in bytes and its content type. */
export interface Thumb {
  readonly key: FileKey;
  readonly sizeBytes: number;
  readonly type: string;
}

/** Previews of images. */
export interface Thumbs {
  /** Finds or makes a preview; undefined for what is no image, is broken or too large: that is served as it is. */
  find(image: Thumb, size: ThumbSize): Promise<Thumb | undefined>;
}

/** Contract §3. */
const maxPixels = 50_000_000;

/** A file is held in memory while its preview is made. */
const maxImageBytes = 64 * 1024 * 1024;
const timeoutSec = 10;

/** Previews that are made at once; others wait. */
const madeAtOnce = 2;

/** What is read, and as what the preview is written. Other formats are not given to the decoder at all. */
const formats: Readonly<Record<string, 'jpeg' | 'png' | 'webp'>> = {
  'image/jpeg': 'jpeg',
  'image/png': 'png',
  'image/gif': 'png',
  'image/webp': 'webp',
  'image/avif': 'webp',
};

const suffixes = { centre: '', top: 't', bottom: 'b', fit: 'f' } as const;

/** Makes the previews and keeps them in the storage beside their image, with which they go. */
export function createThumbs({ storage, log }: { readonly storage: Storage; readonly log: Logger }): Thumbs {
  const making = new Map<string, Promise<Thumb | undefined>>();
  const takeTurn = createTurns(madeAtOnce);

  async function make(image: Thumb, size: ThumbSize, key: FileKey, format: 'jpeg' | 'png' | 'webp') {
    const type = `image/${format}`;
    const kept = await storage.find(key);
    if (kept) return { key, ...kept, type };
    const made = await takeTurn(async () => {
      const source = await storage.open(image.key);
      return source && (await resize(await buffer(source), size, format));
    });
    if (!made) return undefined;
    await storage.put(key, Readable.from([made])).catch((error) => {
      // Another replica was faster.
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    });
    // Whoever removed the image meanwhile did not know of the preview.
    if (!(await storage.find(image.key))) await storage.delete(key);
    return { key, sizeBytes: made.length, type };
  }

  return {
    async find(image, size) {
      const format = formats[image.type];
      const key = previewKey(image.key, `${size.width}x${size.height}${suffixes[size.mode]}`);
      if (!format || !key || image.sizeBytes > maxImageBytes) return undefined;
      const path = key.segments.join('/');
      const running =
        making.get(path) ??
        make(image, size, key, format)
          .catch((error) => {
            log.debug({ err: error, file: path }, 'no preview could be made');
            return undefined;
          })
          .finally(() => making.delete(path));
      making.set(path, running);
      return running;
    },
  };
}

async function resize(image: Buffer, size: ThumbSize, format: 'jpeg' | 'png' | 'webp'): Promise<Buffer> {
  // Loaded at the first preview: who never asks for one does not pay for it.
  const { default: sharp } = await import('sharp');
  const { width, height, mode } = size;
  return sharp(image, { limitInputPixels: maxPixels, failOn: 'error', pages: 1 })
    .autoOrient()
    .resize({
      ...(width > 0 && { width }),
      ...(height > 0 && { height }),
      fit: mode === 'fit' ? 'inside' : 'cover',
      ...(mode !== 'fit' && { position: mode }),
    })
    .toFormat(format)
    .timeout({ seconds: timeoutSec })
    .toBuffer();
}

/** Lets so many work at once, in the order in which they came. */
function createTurns(count: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = count;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
