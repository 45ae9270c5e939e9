import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGate } from '@recordbus/shared/gate';
import type { Logger } from '@recordbus/shared/logging';
import { type FileKey, previewKey, type Storage } from '@recordbus/storage';
import type { KeptPreviews } from './kept-previews.ts';
import type { ThumbSize } from './thumb-size.ts';

/** A stored image with its size and content type. */
export interface Thumb {
  readonly key: FileKey;
  readonly sizeBytes: number;
  readonly type: string;
}

/** Previews of images. */
export interface Thumbs {
  /** Finds or creates a preview; undefined for a file that is served as it is: no image, broken, or too large. */
  find(image: Thumb, size: ThumbSize): Promise<Thumb | undefined>;
}

/** The maximum number of pixels in an image (files §5.3). */
const maxPixels = 50_000_000;

/**
 * The maximum number of bytes in an image. The file and up to 200 MB of pixels are in memory while its preview is
 * created.
 */
const maxImageBytes = 64 * 1024 * 1024;
const timeoutSec = 10;

/**
 * The maximum number of previews that are created at once, and of requests that wait. Further ones are refused with
 * 503.
 */
const maxRunning = 2;
const maxWaiting = 100;

/** The maximum number of broken images that are remembered, so they are not decoded at each request. */
const maxBroken = 10_000;

type Format = 'jpeg' | 'png' | 'webp';

/** Formats of previews by the type of the image. Images of other types are never decoded. */
const formats: Readonly<Record<string, Format>> = {
  'image/jpeg': 'jpeg',
  'image/png': 'png',
  'image/gif': 'png',
  'image/webp': 'webp',
  'image/avif': 'webp',
};

const suffixes = { centre: '', top: 't', bottom: 'b', fit: 'f' } as const;

interface ThumbsDeps {
  readonly storage: Storage;
  readonly kept: Pick<KeptPreviews, 'note'>;
  readonly log: Logger;
}

/** Creates the previews. They are stored next to their image and removed with it. */
export function createThumbs({ storage, kept, log }: ThumbsDeps): Thumbs {
  const making = new Map<string, Promise<Thumb | undefined>>();
  const broken = new Set<string>();
  const gate = createGate({ width: maxRunning, maxWaiting, refusal: 'too many previews are being created' });

  async function findOrCreate(image: Thumb, size: ThumbSize, key: FileKey, format: Format): Promise<Thumb | undefined> {
    const type = `image/${format}`;
    const found = await storage.find(key);
    if (found) {
      await kept.note({ key, ...found }, false);
      return { key, ...found, type };
    }
    const made = await gate.run(() => make(image, size, format));
    if (!made) return undefined;
    await storage.put(key, Readable.from([made])).catch((error) => {
      // Another replica has stored it already.
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    });
    // If the image was removed meanwhile, its removal missed this preview.
    if (!(await storage.find(image.key))) await storage.delete(key);
    else await kept.note({ key, sizeBytes: made.length }, true);
    return { key, sizeBytes: made.length, type };
  }

  /** Creates a preview; undefined for an image that cannot be decoded. */
  async function make(image: Thumb, size: ThumbSize, format: Format): Promise<Buffer | undefined> {
    const source = await storage.open(image.key);
    const bytes = source && (await buffer(source));
    return (
      bytes &&
      resize(bytes, size, format).catch((error) => {
        const path = image.key.segments.join('/');
        log.debug({ err: error, file: path }, 'cannot create a preview');
        if (broken.size < maxBroken) broken.add(path);
        return undefined;
      })
    );
  }

  return {
    async find(image, size) {
      const format = formats[image.type];
      const key = previewKey(image.key, `${size.width}x${size.height}${suffixes[size.mode]}`);
      if (!format || !key || image.sizeBytes > maxImageBytes) return undefined;
      if (broken.has(image.key.segments.join('/'))) return undefined;
      const path = key.segments.join('/');
      const running = making.get(path) ?? findOrCreate(image, size, key, format).finally(() => making.delete(path));
      making.set(path, running);
      return running;
    },
  };
}

async function resize(image: Buffer, size: ThumbSize, format: Format): Promise<Buffer> {
  // Loaded at the first preview, so processes without previews do not pay for it.
  const { default: sharp } = await import('sharp');
  // No cache between images, and one thread for each: two previews at once use two threads.
  sharp.cache(false);
  sharp.concurrency(1);
  const { width, height, mode } = size;
  return sharp(image, { limitInputPixels: maxPixels, failOn: 'error', pages: 1 })
    .autoOrient()
    .resize({
      ...(width > 0 && { width }),
      ...(height > 0 && { height }),
      withoutEnlargement: true,
      fit: mode === 'fit' ? 'inside' : 'cover',
      ...(mode !== 'fit' && { position: mode }),
    })
    .toFormat(format)
    .timeout({ seconds: timeoutSec })
    .toBuffer();
}
