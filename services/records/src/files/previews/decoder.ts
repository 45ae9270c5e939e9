import { writeFileSync } from 'node:fs';
import { messageOf } from '@recordbus/errors';
import sharp, { type Metadata, type Sharp } from 'sharp';
import { decodedBytes } from './decoded-bytes.ts';
import type { FromDecoder, PreviewOrder, ToDecoder } from './protocol.ts';

/**
 * The process that decodes images, one at a time. It is separate from the service because an image may make it use much
 * memory, crash or hang. The service then ends it and loses nothing.
 */

/** Other loaders' formats are refused, whatever the file claims to be. */
const loaders = ['Jpeg', 'Png', 'Nsgif', 'Webp', 'Heif'];

// If the system has no memory left, the kernel ends this process rather than the service.
try {
  writeFileSync('/proc/self/oom_score_adj', '1000');
} catch {
  // Only Linux has it.
}
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: loaders.map((loader) => `VipsForeignLoad${loader}`) });
// One thread, and nothing is kept between images.
sharp.cache(false);
sharp.concurrency(1);

const say = (message: FromDecoder): void => {
  process.send?.(message);
};

let chunks: Uint8Array[] = [];
let image: Buffer | undefined;
let order: PreviewOrder | undefined;

async function receive(message: ToDecoder): Promise<void> {
  if (message.kind === 'chunk') {
    chunks.push(message.bytes);
    return;
  }
  if (message.kind === 'measure') {
    image = Buffer.concat(chunks);
    chunks = [];
    order = message;
    say(measured(await open(image).metadata(), order));
  } else if (image && order) {
    const preview = await resize(open(image), order);
    image = undefined;
    say({ kind: 'made', bytes: preview });
  }
}

/** Only an animation's first image. */
const open = (bytes: Buffer): Sharp => sharp(bytes, { limitInputPixels: false, failOn: 'error', pages: 1 });

const measured = (metadata: Metadata, { size }: PreviewOrder): FromDecoder => ({
  kind: 'measured',
  pixels: metadata.width * (metadata.pageHeight ?? metadata.height),
  decodedBytes: decodedBytes({ ...metadata, height: metadata.pageHeight ?? metadata.height }, size),
});

const resize = (source: Sharp, { size: { width, height, mode }, format }: PreviewOrder): Promise<Buffer> =>
  source
    .autoOrient()
    .resize({
      ...(width > 0 && { width }),
      ...(height > 0 && { height }),
      withoutEnlargement: true,
      fit: mode === 'fit' ? 'inside' : 'cover',
      ...(mode !== 'fit' && { position: mode }),
    })
    .toFormat(format)
    .toBuffer();

process.on('message', (message: ToDecoder) => {
  receive(message).catch((error: unknown) => {
    image = undefined;
    say({ kind: 'failed', message: messageOf(error) });
  });
});
// The service has ended.
process.on('disconnect', () => process.exit());
// Ctrl-C in a terminal is for the service, which ends this process.
process.on('SIGINT', () => {});
say({ kind: 'ready' });
