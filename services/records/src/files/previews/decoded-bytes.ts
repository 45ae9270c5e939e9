import type { Metadata } from 'sharp';
import type { ThumbSize } from '../thumb-size.ts';

type Measured = Pick<
  Metadata,
  'format' | 'width' | 'height' | 'channels' | 'depth' | 'isProgressive' | 'chromaSubsampling'
> & {
  readonly orientation?: number | undefined;
};

/** Bytes for a sample. No format with previews has other depths, so they count as the largest. */
const sampleBytes: Readonly<Record<string, number>> = {
  uchar: 1,
  char: 1,
  ushort: 2,
  short: 2,
  uint: 4,
  int: 4,
  float: 4,
};
const largestSample = 16;

/** A JPEG's sides can shrink by these factors while it is decoded. */
const jpegFactors = [8, 4, 2] as const;

/** A progressive JPEG's coefficients are all in memory until its last scan: two bytes for each, by subsampling. */
const coefficientBytes: Readonly<Record<string, number>> = { '4:2:0': 3, '4:1:1': 3, '4:2:2': 4, '4:4:4': 6 };
const maxCoefficientBytes = 8;

/**
 * The bytes that an image takes decoded: width × height × channels × depth (files §5.5). Only an animation's first
 * image is decoded. A JPEG is decoded at the size that its preview needs.
 */
export function decodedBytes(image: Measured, size: ThumbSize): number {
  const { format, width, height, channels, depth } = image;
  const pixelBytes = channels * (sampleBytes[depth] ?? largestSample);
  if (format !== 'jpeg') return width * height * pixelBytes;
  const factor = shrinkOnLoad(image, size);
  const decoded = Math.ceil(width / factor) * Math.ceil(height / factor) * pixelBytes;
  if (!image.isProgressive) return decoded;
  return decoded + width * height * (coefficientBytes[image.chromaSubsampling ?? ''] ?? maxCoefficientBytes);
}

/** The factor by which libjpeg shrinks a JPEG. It leaves both sides at least as long as the preview's. */
function shrinkOnLoad({ width, height, orientation = 1 }: Measured, size: ThumbSize): number {
  const [shownWidth, shownHeight] = orientation >= 5 ? [height, width] : [width, height];
  const shrink = Math.min(
    size.width > 0 ? shownWidth / size.width : Number.POSITIVE_INFINITY,
    size.height > 0 ? shownHeight / size.height : Number.POSITIVE_INFINITY,
  );
  return jpegFactors.find((factor) => shrink >= factor) ?? 1;
}
