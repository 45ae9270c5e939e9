import { Readable } from 'node:stream';
import { unavailable } from '@recordbus/errors';
import { createFairGate } from '@recordbus/limits/fair-gate';
import type { Logger } from '@recordbus/process/logging';
import { type Metrics, sampledGauge } from '@recordbus/process/metrics';
import { hasCode } from '@recordbus/process/system-error';
import { currentCaller } from '@recordbus/request/request-scope';
import { type FileKey, previewKey, type Storage } from '@recordbus/storage';
import type { KeptPreviews } from './kept-previews.ts';
import { type Decoders, pictureTooLarge } from './previews/decoders.ts';
import type { PreviewFormat } from './previews/protocol.ts';
import type { ThumbSize } from './thumb-size.ts';

/** A stored image with its size and content type. */
export interface Thumb {
  readonly key: FileKey;
  readonly sizeBytes: number;
  readonly type: string;
}

/** Image previews. */
export interface Thumbs {
  /**
   * Finds or creates a preview; undefined for a file that is served as it is: no image, broken, or with too many pixels
   * or bytes. Throws 422 `picture_too_large` for an image that takes too much memory or time, 503 when too many others
   * wait.
   */
  find(image: Thumb, size: ThumbSize): Promise<Thumb | undefined>;
}

/** How many bytes an image may have, which its process holds while it creates the preview (files §5.3). */
const maxImageBytes = 64 * 1024 * 1024;

/** How many images without previews are remembered, so they are not measured at each request. */
const maxRefused = 10_000;

/**
 * A preview takes a core while its image is decoded, so guests have two places. One more is for users, and one for
 * admins. A client has one place, so one client's five expensive images delay no other's (files §5.5).
 */
const places = {
  width: 4,
  widthPerClient: 1,
  reserved: 1,
  maxWaiting: 200,
  maxWaitingPerClient: 100,
  maxWaitMs: 30_000,
  refuse: () => unavailable('too many previews are being created'),
};

/** Preview formats by image type. Images of other types are never decoded. */
const formats: Readonly<Record<string, PreviewFormat>> = {
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
  readonly decoders: Decoders;
  readonly metrics: Metrics;
  readonly log: Logger;
}

interface Order {
  readonly image: Thumb;
  readonly size: ThumbSize;
  readonly key: FileKey;
  readonly format: PreviewFormat;
}

/** Creates the previews. They are stored next to their image and removed with it. */
export function createThumbs({ storage, kept, decoders, metrics, log }: ThumbsDeps): Thumbs {
  const making = new Map<string, Promise<Thumb | undefined>>();
  /** The previews that images have not, and why. An image may be too large for a larger preview only. */
  const refused = new Map<string, 'as it is' | 'too large'>();
  const gate = createFairGate(places);
  addGauges(metrics, { running: () => gate.running, waiting: () => gate.waiting, bytes: () => decoders.decodedBytes });

  async function findStored({ key, format }: Order): Promise<Thumb | undefined> {
    const found = await storage.find(key);
    if (!found) return undefined;
    await kept.note({ key, ...found }, false);
    return { key, ...found, type: `image/${format}` };
  }

  /** Creates a preview in turn. Another client may have created it meanwhile: each waits only for its own turn. */
  const createInTurn = (order: Order): Promise<Thumb | undefined> =>
    gate.run(currentCaller(), async () => (await findStored(order)) ?? (await create(order)));

  async function create({ image, size, key, format }: Order): Promise<Thumb | undefined> {
    const made = await decoders.make(() => read(image.key), { size, format });
    if (typeof made === 'string') {
      const path = pathOf(key);
      log.debug({ file: path, reason: made }, 'an image has no preview');
      if (refused.size < maxRefused) refused.set(path, made === 'too large' ? 'too large' : 'as it is');
      return refuse(path);
    }
    await storage.put(key, Readable.from([Buffer.from(made)])).catch((error) => {
      // Another replica has stored it already.
      if (!hasCode(error, 'EEXIST')) throw error;
    });
    // If the image was removed meanwhile, its removal missed this preview.
    if (!(await storage.find(image.key))) await storage.delete(key);
    else await kept.note({ key, sizeBytes: made.length }, true);
    return { key, sizeBytes: made.length, type: `image/${format}` };
  }

  /** An image's bytes; none if it was removed meanwhile. */
  async function* read(key: FileKey): AsyncGenerator<Uint8Array> {
    const source = await storage.open(key);
    if (source) yield* source;
  }

  function refuse(path: string): undefined {
    if (refused.get(path) === 'too large') throw pictureTooLarge('takes too much memory to decode');
  }

  return {
    async find(image, size) {
      const format = formats[image.type];
      const key = previewKey(image.key, `${size.width}x${size.height}${suffixes[size.mode]}`);
      if (!format || !key || image.sizeBytes > maxImageBytes) return undefined;
      const order = { image, size, key, format };
      const found = await findStored(order);
      if (found) return found;
      const path = pathOf(key);
      if (refused.has(path)) return refuse(path);
      const name = `${currentCaller().name} ${path}`;
      const running = making.get(name) ?? createInTurn(order).finally(() => making.delete(name));
      making.set(name, running);
      return running;
    },
  };
}

const pathOf = ({ segments }: FileKey): string => segments.join('/');

interface Gauges {
  readonly running: () => number;
  readonly waiting: () => number;
  readonly bytes: () => number;
}

function addGauges(metrics: Metrics, { running, waiting, bytes }: Gauges): void {
  const add = (name: string, help: string, read: () => number) =>
    sampledGauge(metrics, { name: `recordbus_previews_${name}`, help, sample: async () => read() });
  add('running', 'Previews that are being created.', running);
  add('waiting', 'Previews that wait for their turn.', waiting);
  add('decoded_bytes', 'Bytes that the images for running previews take decoded.', bytes);
}
