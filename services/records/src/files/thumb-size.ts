import { malformedParameter } from '@recordbus/errors';
import { maxThumbSidePixels, thumbSize } from '@recordbus/schema';

/** A preview's requested size. A side of 0 keeps the ratio. */
export interface ThumbSize {
  readonly width: number;
  readonly height: number;
  /** How an image with another ratio fits: cropped to its centre, top or bottom, or fitted inside. */
  readonly mode: 'centre' | 'top' | 'bottom' | 'fit';
}

/** The size that every field has (files §5.1). */
const defaultSize = '100x100';

const modes = { x: 'centre', t: 'top', b: 'bottom', f: 'fit' } as const;

/** Reads `?thumb=`: `100x100`, `0x100` or `100x0`, with an optional f, t or b (files §5.2). Throws 400 for anything else. */
export function readThumbSize(text: string): ThumbSize {
  const isSize = text.length <= 10 && thumbSize.test(text);
  const [width = 0, height = 0] = isSize ? text.split('x').map((side) => Number.parseInt(side, 10)) : [];
  if (!isSize || Math.max(width, height) > maxThumbSidePixels)
    throw malformedParameter('thumb', `must be a size such as 100x100, 0x100 or 100x100f, up to ${maxThumbSidePixels}`);
  const suffix = /[tbf]$/.exec(text)?.[0] ?? 'x';
  return { width, height, mode: modes[suffix as keyof typeof modes] };
}

/** Throws 400 for a size that the field does not list: clients must not decide how many previews are kept. */
export function requireThumbSize(text: string, listed: readonly string[]): void {
  if (text === defaultSize || listed.includes(text)) return;
  throw malformedParameter('thumb', `must be ${[defaultSize, ...listed].join(' or ')}`);
}
