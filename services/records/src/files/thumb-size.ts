import { malformed } from '@recordbus/shared/errors';

/** A preview that was asked for; a side of 0 keeps the ratio. */
export interface ThumbSize {
  readonly width: number;
  readonly height: number;
  /** What becomes of an image of another shape: cropped to its centre, top or bottom, or fitted inside. */
  readonly mode: 'centre' | 'top' | 'bottom' | 'fit';
}

/** How a size is written. */
export const thumbSize = /^(\d{1,4})x(\d{1,4})([tbf]?)$/;

const modes = { '': 'centre', t: 'top', b: 'bottom', f: 'fit' } as const;

/** Longest side of a preview in pixels: what it costs to make one is bounded by what is asked for. */
const maxSidePixels = 4096;

/** Reads `?thumb=` (contract §3): `100x100`, `0x100`, `100x0`, with the suffix f, t or b. Throws 400 for anything else. */
export function readThumbSize(text: string): ThumbSize {
  const [, width, height, suffix] = thumbSize.exec(text) ?? [];
  const size = {
    width: Number(width),
    height: Number(height),
    mode: modes[(suffix ?? '') as keyof typeof modes],
  };
  const isSize = size.width + size.height > 0 && Math.max(size.width, size.height) <= maxSidePixels;
  if (!isSize) throw malformed(`thumb: must be a size such as 100x100, 0x100 or 100x100f, up to ${maxSidePixels}`);
  return size;
}
